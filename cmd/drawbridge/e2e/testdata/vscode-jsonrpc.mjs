// A client that nobody here wrote: vscode-jsonrpc, with Content-Length framing and LSP's InitializeParams, has the conversation
// that the Go client has. usage: node vscode-jsonrpc.mjs MODULES DRAWBRIDGE CWD [ARG …]; it prints a line for each thing it sees.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, binary, cwd, ...args] = process.argv.slice(2);
const rpc = createRequire(pathToFileURL(modules + "/").href)("vscode-jsonrpc/node");

const child = spawn(binary, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(child.stdout),
  new rpc.StreamMessageWriter(child.stdin),
);
const say = (...words) => console.log(words.join(" "));

let tokens = "";
connection.onNotification("assistant_token", (p) => { tokens += p.token; });
connection.onNotification("tool_use_start", (p) => say("tool", p.name, p.title));
connection.onNotification("tool_result", (p) => say("result", p.outcome));
connection.onNotification("prompt_resolved", (p) => say("resolved", p.outcome, p.by));
connection.onRequest("permission_request", (p, token) => {
  say("asked", p.display);
  if (p.command.includes("never")) {
    return new Promise((resolve) => token.onCancellationRequested(() => { say("taken back"); resolve(null); }));
  }
  return { prompt_id: p.prompt_id, decision: "allow" };
});
connection.onUnhandledNotification(() => {});
connection.listen();

const answer = await connection.sendRequest("initialize", {
  processId: process.pid,
  rootUri: pathToFileURL(cwd).href,
  capabilities: {
    experimental: { drawbridge: { protocol_version: "1.0", capabilities: { streaming: true, permissions: true } } },
  },
  initializationOptions: { trusted: true },
});
say("server", answer.serverInfo.name, answer.capabilities.experimental.drawbridge.protocol_version);
connection.sendNotification("initialized", {});

const first = await connection.sendRequest("user_message", { content: "hello" });
say("answer", first.status, first.result, tokens === first.result ? "tokens equal" : "tokens differ: " + tokens);

const second = await connection.sendRequest("user_message", { content: "bash: touch interop && echo made" });
say("answer", second.status);

const source = new rpc.CancellationTokenSource();
const third = connection.sendRequest("user_message", { content: "bash: touch never" }, source.token);
await new Promise((resolve) => connection.onNotification("status_change", (p) => {
  if (p.state === "waiting_permission") resolve();
}));
source.cancel();
say("answer", (await third).status);

await connection.sendRequest("shutdown");
connection.sendNotification("exit");
const code = await new Promise((resolve) => child.on("exit", resolve));
say("exit", code);
process.exit(0);
