// The versions of the site, newest first. `make release` adds one.
const VERSIONS = ["0.1.0"];
