import { readFile, stat } from "node:fs/promises";
import { scaled, stdioServer } from "@fairlead/test-servers";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import type { CallEvent } from "../../src/turn/events.ts";
import {
  type Asked,
  callEvents,
  calls,
  collect,
  type Desk,
  desk,
  outcomes,
  plays,
  rules,
  says,
} from "../support/turn-desk.ts";

/** A server whose tools give these results. */
async function giving(results: object, fairlead: object = {}): Promise<Desk> {
  const at = await desk({
    servers: (path) => ({ s: { ...stdioServer("results", path("results.json")), trust: true } }),
    fairlead,
  });
  await at.write("results.json", results);
  return at;
}

const text = (words: string, more: object = {}): object => ({ content: [{ type: "text", text: words }], ...more });

/** What the model got for its last call. */
function answer({ messages }: Asked): string {
  const [part] = messages.at(-1)?.parts ?? [];
  return Object.values(part?.functionResponse?.response ?? {}).join();
}

const handleIn = (words: string): string => /result:\/\/[0-9a-f]{12}/.exec(words)?.[0] ?? "";
const names = ({ tools }: Asked): readonly string[] => tools.map(({ name }) => name);

/** The text between the tags. */
const inside = (words: string): string => /<untrusted_context_\w+>\n([\s\S]*)\n<\/untrusted/.exec(words)?.[1] ?? "";

const large = Array.from({ length: 3_000 }, (_, at) => `line ${at} of a long result`).join("\n");

const writer = () => ({ s: { ...stdioServer("large-result"), trust: true } });

test("40 MB cost a request less than 3 000 tokens; without --long, 2 MB", async () => {
  await using at = await desk({ servers: writer });
  const size = scaled(40_000_000, 2_000_000);
  const rows = size / 80;
  const model = plays(
    calls("write", { size }),
    (asked) => calls("read_result", { handle: handleIn(answer(asked)), from: -2 }),
    says("ok"),
  );
  const events = await collect(at.host.conversation({ model }).send("go"));
  const [, , last] = model.requests;
  expect(countTokens(JSON.stringify([last?.messages.slice(0, -2), last?.tools]))).toBeLessThan(3_000);
  expect(model.requests.map(answer)[2]).toContain(`[lines ${rows - 1} to ${rows} of ${rows}]`);
  const [file = ""] = callEvents(events).findLast(({ name }) => name === "write")?.files ?? [];
  expect((await stat(file)).size).toBe(size);
});

const readBack = scaled(40_000_000, 160_000);

test("every byte can be read back", { timeout: 60_000 + readBack / 50 }, async () => {
  await using at = await desk({ servers: writer, fairlead: { resultTokens: scaled(100_000, 20_000) } });
  const size = readBack;
  let read = "";
  let from = 1;
  const model = rules(({ messages }, number) => {
    if (number === 0) return calls("write", { size });
    const told = answer({ messages } as Asked);
    if (number > 1) {
      read += inside(told);
      const next = /the next: from (\d+)/.exec(told)?.[1];
      if (next === undefined) return says("ok");
      from = Number(next);
    }
    const handle = handleIn(JSON.stringify(messages));
    return calls("read_result", { handle, from });
  });
  const events = await collect(at.host.conversation({ model, limits: { turns: 1_000, calls: 1_000 } }).send("go"));
  expect(outcomes(events).every(([, status]) => status === "ok")).toBe(true);
  const line = `${"0123456789".repeat(8).slice(0, 79)}\n`;
  expect(read.length).toBe(size);
  expect(read === line.repeat(size / 80)).toBe(true);
});

test("a large result is stored for its owner, and the model reads it by lines, text and JMESPath", async () => {
  const items = Array.from({ length: 2_000 }, (_, id) => ({ id, title: `thing ${id}` }));
  await using at = await giving({ big: text(JSON.stringify({ items })), small: text("small") });
  let handle = "";
  const model = plays(
    calls("small"),
    calls("big"),
    (asked) => {
      handle = handleIn(answer(asked));
      return calls("read_result", { handle, jmespath: "items[?id > `1997`].title" });
    },
    () => calls("read_result", { handle, grep: '"thing 1999"', lines: 1 }),
    () => calls("read_result", { handle, from: -1 }),
    says("ok"),
  );
  const events = await collect(at.host.conversation({ model }).send("go"));
  expect(model.requests.slice(0, 4).map(names)).toEqual([
    ["big", "small"],
    ["big", "small"],
    ["big", "small", "read_result"],
    ["big", "small", "read_result"],
  ]);
  const [, , told = "", selected = "", found = "", last = ""] = model.requests.map(answer);
  expect(told).toContain("JSON: {items: [2000 × {id: number, title: string}]}");
  expect(selected).toMatch(/^\[lines 1 to 2 of 2\]\n[\s\S]*\n"thing 1998"\n"thing 1999"\n</);
  expect(found).toMatch(/^\[matching lines 1 to 1 of 1\]\n/);
  expect(inside(last)).toBe(JSON.stringify({ items }).slice(-inside(last).length));
  const [file = ""] = callEvents(events).findLast(({ name }: CallEvent) => name === "big")?.files ?? [];
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ items });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("an error keeps its flag and its beginning; pictures are never stored away", async () => {
  await using at = await giving({
    bad: text(`E42 ${large}`, { isError: true }),
    both: {
      content: [
        { type: "text", text: large },
        { type: "image", mimeType: "image/png", data: "QUJD" },
      ],
    },
  });
  const model = plays([...calls("bad"), ...calls("both")], says("ok"));
  const events = await collect(at.host.conversation({ model }).send("go"));
  // The calls run at the same time: either may end first.
  expect(new Set(outcomes(events))).toEqual(
    new Set([
      ["bad", "error", "tool_error"],
      ["both", "ok"],
    ]),
  );
  const [bad, both] = model.requests[1]?.messages.at(-1)?.parts ?? [];
  expect(bad?.functionResponse?.response?.["error"]).toContain(`E42 ${large}`.slice(0, 2_000));
  expect(JSON.stringify(both)).toContain('"data":"QUJD"');
});

test("only the handles of the conversation can be read, and an error names them", async () => {
  await using at = await giving({ big: text(large) });
  const first = plays(calls("big"), says("ok"));
  await collect(at.host.conversation({ model: first }).send("go"));
  const foreign = handleIn(first.requests.map(answer).join());
  expect(foreign).not.toBe("");
  let own = "";
  const hostile = [foreign, "result://../../settings", "/etc/passwd", "result://", "", "x".repeat(100_000)];
  const second = plays(
    calls("big"),
    (asked) => {
      own = handleIn(answer(asked));
      return [...hostile.flatMap((handle) => calls("read_result", { handle })), ...calls("read_result")];
    },
    says("ok"),
  );
  const events = await collect(at.host.conversation({ model: second }).send("go"));
  expect(outcomes(events).slice(1)).toEqual([
    ["read_result", "error", "arguments_invalid"],
    ...hostile.map(() => ["read_result", "error", "not_found"]),
  ]);
  const told = JSON.stringify(second.requests[2]?.messages.at(-1)?.parts[0]);
  expect(told).toContain(`${own} (a text of ${large.length} characters)`);
});

test("hostile queries end, and the next one is answered", async () => {
  await using at = await giving({
    big: text(JSON.stringify({ a: "a".repeat(scaled(3_000_000, 300_000)), list: [1, 2, 3] })),
  });
  let handle = "";
  const doubled = Array.from({ length: 100 }, () => "[@,@]").join("|");
  const queries: readonly Record<string, unknown>[] = [
    { jmespath: doubled },
    { jmespath: `${"[@,@][]|".repeat(40)}to_string(@)` },
    { jmespath: "(".repeat(1_000) },
    { jmespath: "x".repeat(1_001) },
    { jmespath: "][" },
    { grep: `${"a".repeat(999)}b` },
    { from: 1.5 },
    { grep: "a", jmespath: "a" },
  ];
  const model = plays(
    calls("big"),
    (asked) => {
      handle = handleIn(answer(asked));
      return queries.flatMap((query) => calls("read_result", { handle, ...query }));
    },
    () => calls("read_result", { handle, jmespath: "[list, __proto__, constructor, a.__proto__]" }),
    says("ok"),
  );
  const events = await collect(at.host.conversation({ model }).send("go"));
  expect(outcomes(events)).toHaveLength(queries.length + 2);
  expect(inside(model.requests.map(answer)[3] ?? "")).toBe("[1,2,3]\nnull\nnull\nnull");
});

test("a resumed conversation reads its handles; secrets and a second copy are not in the recording", async () => {
  const secret = "hunter2-hunter2";
  await using at = await desk({
    servers: (path) => ({
      s: { ...stdioServer("results", path("results.json")), env: { API_KEY: secret }, trust: true },
    }),
  });
  await at.write("results.json", { big: text(`${large}\n${secret} at the end`) });
  const first = plays(calls("big"), says("ok"));
  const conversation = at.host.conversation({ model: first });
  const events = await collect(conversation.send("go"));
  await conversation.close();
  const [file = ""] = callEvents(events).at(-1)?.files ?? [];
  expect(await readFile(file, "utf8")).not.toContain(secret);
  const recording = await readFile(at.path(`home/.fairlead/conversations/${conversation.id}.jsonl`), "utf8");
  expect(recording).toContain(file);
  expect(recording.length).toBeLessThan(large.length);

  const second = plays(calls("read_result", { handle: handleIn(recording), from: -1 }), says("ok"));
  const resumed = await (await at.again()).conversation({ resume: conversation.id, model: second });
  await collect(resumed.send("more"));
  expect(names(second.requests[0] as Asked)).toContain("read_result");
  expect(inside(answer(second.requests[1] as Asked))).toMatch(/ at the end$/);
});

test("the events of a stored result are those that are recorded, with a part of the result; a typed call has all of it", async () => {
  await using at = await giving({ big: text(large) });
  const conversation = at.host.conversation({ model: plays(calls("big"), says("ok")) });
  const events = callEvents(await collect(conversation.send("go")));
  await conversation.close();
  expect(events.at(-1)?.display).toMatch(
    /^line 0 of [\s\S]*characters left out here[\s\S]*line 2999 of a long result$/,
  );
  const recorded = (await at.lines(`home/.fairlead/conversations/${conversation.id}.jsonl`))
    .map((line) => JSON.parse(line) as { type: string; time?: string })
    .filter(({ type }) => type === "call");
  expect(recorded.map(({ time: _time, ...event }) => event)).toEqual(events);

  const manual = rules((_asked, number) => (number === 0 ? calls("big") : says("ok")), { provider: "manual" });
  const typed = callEvents(await collect(at.host.conversation({ model: manual }).send("s.big")));
  expect(typed.at(-1)).toMatchObject({ status: "ok", display: large });
  expect(answer(manual.requests[1] as Asked)).toContain(large);
});
