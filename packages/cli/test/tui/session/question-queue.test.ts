import { expect, test } from "vitest";
import { QuestionQueue } from "../../../src/tui/session/question-queue.ts";
import { Store } from "../../../src/tui/session/store.ts";
import type { Asked, QuestionAnswer } from "../../../src/tui/state/questions.ts";
import { idle } from "../../support/tui/app-state.ts";
import { confirmation } from "../../support/tui/samples.ts";

const folder = (root: string) => ({ kind: "trust", root, servers: [], approved: [] }) as const;

function scene() {
  const store = new Store(idle);
  const queue = new QuestionQueue(store);
  return {
    ask: queue.ask,
    answer: queue.answer,
    refuseAll: queue.refuseAll,
    store,
    open: () => store.get().questions.map(({ key, kind }) => `${key} ${kind}`),
  };
}

test("questions have keys of their own, stay open until their answer, and resolve with it", async () => {
  const { ask, answer, open } = scene();
  const first = ask("trust", folder("/a"));
  const second = ask("choice", { kind: "choice", serverName: "s", message: "", options: ["a", "b"] });
  expect(open()).toEqual(["question-1 trust", "question-2 choice"]);
  answer("question-2", { kind: "choice", value: 1 });
  expect(await second).toBe(1);
  expect(open()).toEqual(["question-1 trust"]);
  answer("question-1", { kind: "trust", value: true });
  expect(await first).toBe(true);
  expect(open()).toEqual([]);
  // A late second answer has no effect.
  answer("question-1", { kind: "trust", value: false });
  expect(await first).toBe(true);
});

test("a question whose signal aborts is closed and refused, before it is asked or after", async () => {
  const { ask, open } = scene();
  const gone = new AbortController();
  const asked = ask("url", { kind: "url", serverName: "s", message: "", url: "x:", purpose: "sign_in" }, gone.signal);
  expect(open()).toEqual(["question-1 url"]);
  gone.abort();
  expect(open()).toEqual([]);
  expect(await asked).toBe("cancel");
  expect(await ask("trust", folder("/a"), gone.signal)).toBe(false);
  expect(open()).toEqual([]);
});

test("a signal that aborts after the answer changes nothing", async () => {
  const { ask, answer, store } = scene();
  const gone = new AbortController();
  const asked = ask("trust", folder("/a"), gone.signal);
  answer("question-1", { kind: "trust", value: true });
  const before = store.get();
  gone.abort();
  expect(store.get()).toBe(before);
  expect(await asked).toBe(true);
});

test("an answer of another kind is a refusal", async () => {
  const { ask, answer } = scene();
  const asked = ask("sampling", { kind: "sampling", serverName: "s", params: {}, model: "m" });
  answer("question-1", { kind: "trust", value: true });
  expect(await asked).toBe(false);
});

test("all open questions are refused at once, each in its own way", async () => {
  const { ask, refuseAll, open } = scene();
  const { key: _key, ...confirmed } = confirmation();
  const server = { serverName: "s" };
  const all: readonly [Asked, QuestionAnswer["value"]][] = [
    [confirmed, "no"],
    [{ kind: "form", ...server, message: "", schema: {}, purpose: "elicitation" }, { action: "cancel" }],
    [{ kind: "url", ...server, message: "", url: "x:", purpose: "elicitation" }, "cancel"],
    [{ kind: "sampling", ...server, params: {}, model: "m" }, false],
    [folder("/a"), false],
    [{ kind: "sign_in", ...server, messages: [], canPaste: true }, undefined],
    [{ kind: "client_id", ...server, issuer: "", redirectUri: "" }, ""],
    [{ kind: "choice", ...server, message: "", options: [] }, undefined],
  ];
  const answers = all.map(([asked]) => ask<Asked["kind"]>(asked.kind, asked));
  expect(open()).toHaveLength(all.length);
  refuseAll();
  expect(await Promise.all(answers)).toEqual(all.map(([, value]) => value));
  expect(open()).toEqual([]);
});
