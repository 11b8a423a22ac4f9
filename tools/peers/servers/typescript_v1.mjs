// A peer of the TypeScript SDK, version 1: `typescript_v1.mjs NAME [PORT sessions|stateless]`; over stdio without a port.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const [name, port, kind] = process.argv.slice(2);
const scheme = name.replaceAll("_", "-");
const text = (said) => ({ content: [{ type: "text", text: said }] });
const PIXEL = "iVBORw0KGgo=";

function made() {
  const server = new McpServer({ name, version: "1.0.0" }, { capabilities: { logging: {} }, instructions: "Shared by all peers." });
  const outputSchema = { total: z.number(), terms: z.array(z.number()) };
  server.registerTool("add", { description: "Add two numbers.", inputSchema: { a: z.number(), b: z.number() }, outputSchema }, async ({ a, b }) => {
    const sum = { total: a + b, terms: [a, b] };
    return { ...text(JSON.stringify(sum)), structuredContent: sum };
  });
  server.registerTool("picture", { description: "Return a picture." }, async () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] }));
  server.registerTool("count", { description: "Count aloud.", inputSchema: { steps: z.number() } }, async ({ steps }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let step = 1; step <= steps && progressToken !== undefined; step++)
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress: step, total: steps, message: `step ${step}` } });
    await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: "counted" } });
    return text(`${steps} steps`);
  });
  server.registerTool("fail", { description: "Fail." }, async () => { throw new Error("on purpose"); });
  server.registerTool("grow", { description: "Add a tool." }, async () => {
    server.registerTool("grown", { description: "Grown." }, async () => text("grown"));
    return text("grown");
  });
  server.registerTool("ask", { description: "Ask the person." }, async (extra) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const answer = await server.server.elicitInput({ message: "What is your name?", requestedSchema }, { relatedRequestId: extra.requestId });
    return text(`${answer.action}: ${answer.content?.name ?? ""}`);
  });
  server.registerTool("sample", { description: "Ask the model." }, async (extra) => {
    const messages = [{ role: "user", content: { type: "text", text: "A word?" } }];
    const answer = await server.server.createMessage({ messages, maxTokens: 10 }, { relatedRequestId: extra.requestId });
    return text(answer.content.text);
  });
  server.registerResource("note", `${scheme}://note`, { description: "A note.", mimeType: "text/plain" }, async (uri) => ({ contents: [{ uri: uri.href, text: "tea" }] }));
  server.registerResource("picture", `${scheme}://picture`, { mimeType: "image/png" }, async (uri) => ({ contents: [{ uri: uri.href, mimeType: "image/png", blob: PIXEL }] }));
  const template = new ResourceTemplate(`${scheme}://notes/{number}`, { list: undefined });
  server.registerResource("numbered", template, { description: "A note by its number." }, async (uri, { number }) => ({ contents: [{ uri: uri.href, text: `note ${number}` }] }));
  const names = completable(z.string(), (typed) => ["Ann", "Anton", "Bea"].filter((one) => one.startsWith(typed)));
  server.registerPrompt("greet", { description: "Greet by name.", argsSchema: { name: names } }, ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }] }));
  return server;
}

async function serve() {
  const sessions = new Map();
  createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (id && !transport) return response.writeHead(404).end();
    if (!transport) {
      const sessionIdGenerator = kind === "sessions" ? randomUUID : undefined;
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator, onsessioninitialized: (given) => sessions.set(given, transport) });
      await made().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(Number(port), "127.0.0.1");
}

if (port) await serve();
else await made().connect(new StdioServerTransport());
