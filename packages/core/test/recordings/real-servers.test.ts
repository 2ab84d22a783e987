import { join } from "node:path";
import { realServer, type StdioEntry, temporaryFolder } from "@fairlead/test-servers";
import { connect, type JsonObject, type Session, type Target, WireError } from "@fairlead/wire";
import { listenHttp, serveClient } from "@fairlead/wire/serve";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createPlayer } from "../../src/recordings/player.ts";
import type { RecordedMessage } from "../../src/recordings/recording.ts";

type Request = readonly [method: string, params: JsonObject];

const call = (name: string, args: JsonObject = {}): Request => ["tools/call", { name, arguments: args }];
const many = <T>(count: number, of: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at));

/** What each request gives, with its progress; and what the server asked meanwhile. */
async function run(
  target: Target,
  requests: readonly Request[],
  onMessage?: (from: string, message: JsonObject) => void,
) {
  const asked: string[] = [];
  const session: Session = await connect(target, {
    clientInfo: { name: "test", version: "1" },
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
    async onRequest(method) {
      asked.push(method);
      if (method === "roots/list") return { roots: [] };
      if (method === "elicitation/create") return { action: "decline" };
      return { model: "m", role: "assistant", content: { type: "text", text: "hello" } };
    },
    ...(onMessage && { onMessage }),
  });
  const outcomes: unknown[] = [];
  for (const [method, params] of requests) {
    const progress: number[] = [];
    const outcome = await session
      .request(method, params, { onProgress: (step) => progress.push(step.progress) })
      .catch((error: unknown) => (error instanceof WireError ? [error.message, error.evidence.rpc] : error));
    outcomes.push({ outcome, progress });
  }
  const { protocolVersion, serverInfo, capabilities, instructions } = session;
  await session.close();
  return { protocolVersion, serverInfo, capabilities, instructions, outcomes, asked };
}

/** Runs the session with the server, then the same session with its recording over HTTP. */
async function runTwice({ command, args }: StdioEntry, env: Record<string, string>, requests: readonly Request[]) {
  const messages: RecordedMessage[] = [];
  const target: Target = { kind: "stdio", command, args, env, cwd: process.cwd() };
  const live = await run(target, requests, (direction, message) => {
    const copy = JSON.parse(JSON.stringify(message)) as JsonObject;
    messages.push({ c: "a", at: 0, from: direction === "sent" ? "client" : "server", message: copy });
  });
  const header = { v: 1, kind: "fairlead.recording", server: "s", recordedAt: "" } as const;
  const createError = (...error: ConstructorParameters<typeof WireError>) => new WireError(...error);
  const player = createPlayer({ header, messages }, { clock: systemClock, createError });
  const listener = await listenHttp({
    eras: player.eras,
    onClient: (open, era) => void serveClient(open, (client) => player.session(client, era)),
  });
  const played = await run({ kind: "http", url: listener.url, headers: {} }, requests);
  await listener.close();
  expect(player.unmatched()).toEqual([]);
  return { live, played };
}

test("server-everything: lists, errors, images, structured results, progress and questions", async () => {
  const requests: readonly Request[] = [
    ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map(
      (method): Request => [method, {}],
    ),
    ...many(10, (at) => call("echo", { message: `m${at % 5}` })),
    ...many(5, (at) => call("get-sum", { a: at, b: 2 })),
    call("get-sum", { a: "x" }),
    call("nothing"),
    call("get-tiny-image"),
    call("get-structured-content", { location: "Chicago" }),
    call("trigger-long-running-operation", { duration: 0.1, steps: 4 }),
    call("trigger-sampling-request", { prompt: "hi", maxTokens: 10 }),
    call("trigger-elicitation-request"),
    ["prompts/get", { name: "args-prompt", arguments: { city: "Rome" } }],
    ["resources/read", { uri: "demo://resource/static/document/architecture.md" }],
    ["resources/read", { uri: "demo://nothing" }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "x" }, argument: { name: "a", value: "b" } }],
  ];
  expect(requests).toHaveLength(30);
  const { live, played } = await runTwice(realServer("everything"), {}, requests);
  expect(played).toEqual(live);
  expect(live.asked).toEqual(expect.arrayContaining(["sampling/createMessage", "elicitation/create"]));
});

test("server-filesystem: files that change between two reads", async () => {
  await using folder = await temporaryFolder();
  await folder.write("a.txt", "alpha\nbeta\n");
  const path = (name: string): string => join(folder.path, name);
  const read = call("read_text_file", { path: path("b.txt") });
  const requests: readonly Request[] = [
    ["tools/list", {}],
    ...many(8, (at) => [call("write_file", { path: path("b.txt"), content: `${at}` }), read]).flat(),
    call("read_text_file", { path: path("a.txt") }),
    call("edit_file", { path: path("a.txt"), edits: [{ oldText: "alpha", newText: "ALPHA" }] }),
    call("read_text_file", { path: path("a.txt") }),
    call("read_text_file", { path: path("nothing.txt") }),
    call("read_text_file", { path: "/etc/passwd" }),
    call("list_directory", { path: folder.path }),
    call("move_file", { source: path("b.txt"), destination: path("c.txt") }),
    call("list_directory", { path: folder.path }),
    call("get_file_info", { path: path("a.txt") }),
    call("search_files", { path: folder.path, pattern: "*.txt" }),
    call("directory_tree", { path: folder.path }),
    call("list_allowed_directories"),
    call("read_multiple_files", { paths: [path("a.txt"), path("c.txt")] }),
  ];
  expect(requests).toHaveLength(30);
  const { live, played } = await runTwice(realServer("filesystem", folder.path), {}, requests);
  expect(played).toEqual(live);
});

test("server-memory: a graph that grows", async () => {
  await using folder = await temporaryFolder();
  const graph = call("read_graph");
  const requests: readonly Request[] = [
    ["tools/list", {}],
    ...many(9, (at) => [
      call("create_entities", { entities: [{ name: `e${at}`, entityType: "t", observations: [`o${at}`] }] }),
      graph,
      call("search_nodes", { query: "e" }),
    ]).flat(),
    call("delete_entities", { entityNames: ["e3"] }),
    graph,
  ];
  expect(requests).toHaveLength(30);
  const { live, played } = await runTwice(
    realServer("memory"),
    { MEMORY_FILE_PATH: join(folder.path, "m.jsonl") },
    requests,
  );
  expect(played).toEqual(live);
});
