import { expect, test } from "vitest";
import { askForPaste, readPasted } from "../../../src/auth/browser/await-answer.ts";

const sign = { state: "the-state", redirectUri: "http://127.0.0.1:7000/cb" };

test.each([
  ["the whole address", "http://127.0.0.1:7000/cb?code=c&state=the-state"],
  ["with a fragment", "http://127.0.0.1:7000/cb?code=c&state=the-state#_=_"],
  ["what follows the question mark", "code=c&state=the-state"],
  ["with the question mark", "?state=the-state&code=c"],
])("%s is taken", (_, text) => {
  const pasted = readPasted(text, sign);
  expect(pasted.kind === "answer" && pasted.answer.get("code")).toBe("c");
});

test("the longest address that is taken has 32768 characters", () => {
  const text = (length: number): string => "code=c&state=the-state&x=".padEnd(length, "x");
  expect([readPasted(text(32_768), sign).kind, readPasted(text(32_769), sign)]).toEqual([
    "answer",
    { kind: "unusable", reason: "the text is too long for an address" },
  ]);
});

const notThere =
  "this is not the address that the browser shows after the sign-in; that address begins with http://127.0.0.1:7000/cb";

test.each([
  ["a code alone", "c", notThere],
  ["requests tokens for another address", "http://127.0.0.1:7001/cb?code=c&state=the-state", notThere],
  ["another path", "http://127.0.0.1:7000/?code=c&state=the-state", notThere],
  ["the page where one signs in", "https://issuer/authorize?state=the-state", notThere],
  ["another sign-in", "http://127.0.0.1:7000/cb?code=c&state=other", "this address belongs to another sign-in"],
  ["no state", "code=c", "this address belongs to another sign-in"],
  ["a book", `code=${"x".repeat(40_000)}`, "the text is too long for an address"],
])("%s is not", (_, text, reason) => {
  expect(readPasted(text, sign)).toEqual({ kind: "unusable", reason });
});

/** Gives these one after another, then an end of input. */
function typing(...texts: readonly string[]) {
  const left = [...texts];
  return async (): Promise<string | undefined> => left.shift();
}

async function pasting(paste: () => Promise<string | undefined>): Promise<object> {
  const reasons: string[] = [];
  const signal = new AbortController().signal;
  const outcome = await askForPaste({ ...sign, paste, onUnusable: (reason) => reasons.push(reason), signal });
  return { outcome: outcome.kind === "answer" ? outcome.answer.get("code") : outcome, reasons };
}

test("a paste that is of no use is asked for again, and so is an empty line", async () => {
  const nothing = "the input is empty; the address begins with http://127.0.0.1:7000/cb";
  expect(await pasting(typing("", "c", "  ", " http://127.0.0.1:7000/cb?code=c&state=the-state \n"))).toEqual({
    outcome: "c",
    reasons: [nothing, notThere, nothing],
  });
});

test("an end of input is the end of asking", async () => {
  expect(await pasting(typing(""))).toMatchObject({ outcome: { kind: "over", reason: "the input ended" } });
});

test("after a cancellation, the user is not asked again", async () => {
  const stop = new AbortController();
  let asked = 0;
  const paste = async (signal: AbortSignal): Promise<string> => {
    asked += 1;
    expect(signal).toBe(stop.signal);
    stop.abort();
    return "";
  };
  await askForPaste({ ...sign, paste, onUnusable: () => {}, signal: stop.signal });
  expect(asked).toBe(1);
});

test("nonsense without end has one", async () => {
  expect(await pasting(async () => "")).toMatchObject({
    outcome: { kind: "over", reason: "no usable address in 100 tries" },
    reasons: { length: 100 },
  });
});
