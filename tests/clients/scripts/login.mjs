// The TypeScript SDK's client logs in by itself and calls a tool: node login.mjs URL TOOL prints the text of the result.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, tool] = process.argv.slice(2);
const BACK = "http://127.0.0.1:1/callback"; // where no server listens

// the browser of a person who agrees to everything; it returns the code at the end
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
    if (!action) throw new Error(text);
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
  const client = new Client({ name: "desk", version: "1" });
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
const result = await client.callTool({ name: tool, arguments: {} });
console.log(JSON.stringify({ text: result.content[0].text }));
await client.close();
