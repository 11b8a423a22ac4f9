// The TypeScript SDK's client logs in by itself and calls a tool: node login.mjs URL TOOL [MODE] [asks]
// Its arguments and output are those of login.py; it has one mode.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, tool, , asks] = process.argv.slice(2);
const pages = [];
const errors = [];
const BACK = "http://127.0.0.1:1/callback"; // where no server listens

// the browser of a person who agrees to everything; it returns the code at the end, or keeps a page without a form
async function open(address) {
  const cookies = new Map();
  let body;
  for (;;) {
    if (address.startsWith(BACK)) return new URL(address).searchParams.get("code");
    const headers = { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") };
    const answer = await fetch(address, { method: body ? "POST" : "GET", body, headers, redirect: "manual" });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, ...value] = cookie.split(";")[0].split("=");
      cookies.set(name, value.join("="));
    }
    body = undefined;
    const location = answer.headers.get("location");
    if (location) {
      address = new URL(location, address).href;
      continue;
    }
    const text = await answer.text();
    const [, action] = text.match(/<form[^>]* action="([^"]+)"/) ?? [];
    if (!action) return void pages.push(text);
    address = new URL(action, address).href;
    const fields = [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    body = new URLSearchParams({ ...Object.fromEntries(fields), login: "ann", password: "any" });
  }
}

const kept = {};
const provider = {
  redirectUrl: BACK,
  clientMetadata: { client_name: "desk", redirect_uris: [BACK] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: async (page) => void (kept.code = await open(page.href)),
};
const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const capabilities = asks === "asks" ? { elicitation: { url: {} } } : {};
  const client = new Client({ name: "desk", version: "1" }, { capabilities });
  if (asks === "asks") {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      await open(params.url);
      return { action: "accept" };
    });
  }
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(kept.code);
    return connect();
  }
  return client;
};
const client = await connect();
const call = async () => (await client.callTool({ name: tool, arguments: {} })).content[0].text;
let text = await call();
const [link] = text.match(/http:\/\/\S+\/vault\/login\?id=[\w.-]+/) ?? [];
if (link) {
  errors.push(text);
  await open(link);
  text = await call();
}
console.log(JSON.stringify({ text, errors, pages }));
await client.close();
