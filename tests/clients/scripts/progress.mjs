// Calls a tool that reports its progress, many times; says how often the last report was not heard before the result.
//   node progress.mjs '{"command": [...], "env": {...}, "cwd": "..."}' TOOL CALLS STEPS       (or {"url": "..."})
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [server, name, calls, steps] = process.argv.slice(2);
const { command, env, cwd, url } = JSON.parse(server);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command: command[0], args: command.slice(1), env, cwd });
const client = new Client({ name: "progress", version: "1" });
await client.connect(transport);
let lost = 0;
let heard = 0;
const begun = performance.now();
for (let call = 0; call < Number(calls); call++) {
  let last = 0;
  const onprogress = (report) => {
    heard += 1;
    last = report.progress;
  };
  await client.callTool({ name, arguments: { to: Number(steps) } }, undefined, { onprogress });
  lost += last !== Number(steps);
}
const seconds = (performance.now() - begun) / 1000;
await client.close();
console.log(JSON.stringify({ lost, heard, seconds }));
