// A peer of the TypeScript SDK, version 2, for both eras: `typescript_v2.mjs NAME [PORT stateless]`; over stdio without a port.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { acceptedContent, completable, createMcpHandler, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [name, port] = process.argv.slice(2);
const scheme = name.replaceAll("_", "-");
const text = (said) => ({ content: [{ type: "text", text: said }] });
const PIXEL = "iVBORw0KGgo=";
const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const question = { message: "What is your name?", requestedSchema };
const prompt = { messages: [{ role: "user", content: { type: "text", text: "A word?" } }], maxTokens: 10 };

function made({ era }) {
  const server = new McpServer({ name, version: "1.0.0" }, { capabilities: { logging: {} }, instructions: "Shared by all peers." });
  const outputSchema = z.object({ total: z.number(), terms: z.array(z.number()) });
  server.registerTool("add", { description: "Add two numbers.", inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema }, async ({ a, b }) => {
    const sum = { total: a + b, terms: [a, b] };
    return { ...text(JSON.stringify(sum)), structuredContent: sum };
  });
  server.registerTool("picture", { description: "Return a picture." }, async () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] }));
  server.registerTool("count", { description: "Count aloud.", inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= steps && progressToken !== undefined; step++)
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: step, total: steps, message: `step ${step}` } });
    await ctx.mcpReq.log("info", "counted");
    return text(`${steps} steps`);
  });
  server.registerTool("fail", { description: "Fail." }, async () => { throw new Error("on purpose"); });
  server.registerTool("grow", { description: "Add a tool." }, async () => {
    server.registerTool("grown", { description: "Grown." }, async () => text("grown"));
    return text("grown");
  });
  server.registerTool("ask", { description: "Ask the person." }, async (ctx) => {
    if (era !== "legacy") {
      const answer = ctx.mcpReq.inputResponses?.who;
      if (!answer) return inputRequired({ inputRequests: { who: inputRequired.elicit(question) } });
      return text(`${answer.action}: ${acceptedContent(ctx.mcpReq.inputResponses, "who")?.name ?? ""}`);
    }
    const answer = await ctx.mcpReq.elicitInput({ mode: "form", ...question });
    return text(`${answer.action}: ${answer.content?.name ?? ""}`);
  });
  server.registerTool("sample", { description: "Ask the model." }, async (ctx) => {
    if (era !== "legacy") {
      const answer = ctx.mcpReq.inputResponses?.word;
      return answer ? text(answer.content.text) : inputRequired({ inputRequests: { word: inputRequired.createMessage(prompt) } });
    }
    return text((await ctx.mcpReq.send({ method: "sampling/createMessage", params: prompt })).content.text);
  });
  server.registerResource("note", `${scheme}://note`, { description: "A note.", mimeType: "text/plain" }, async (uri) => ({ contents: [{ uri: uri.href, text: "tea" }] }));
  server.registerResource("picture", `${scheme}://picture`, { mimeType: "image/png" }, async (uri) => ({ contents: [{ uri: uri.href, mimeType: "image/png", blob: PIXEL }] }));
  const template = new ResourceTemplate(`${scheme}://notes/{number}`, { list: undefined });
  server.registerResource("numbered", template, { description: "A note by its number." }, async (uri, { number }) => ({ contents: [{ uri: uri.href, text: `note ${number}` }] }));
  const names = completable(z.string(), (typed) => ["Ann", "Anton", "Bea"].filter((one) => one.startsWith(typed)));
  server.registerPrompt("greet", { description: "Greet by name.", argsSchema: z.object({ name: names }) }, ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }] }));
  return server;
}

if (port) createServer(toNodeHandler(createMcpHandler(made))).listen(Number(port), "127.0.0.1");
else serveStdio(made);
