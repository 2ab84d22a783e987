import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import type { Exchange } from "../../src/rpc/exchange.ts";
import { sendAfter, settle } from "../../src/rpc/rpc.ts";

/** The part of a request that its response and its preparation change. */
function request() {
  const outcomes: unknown[] = [];
  const exchange = {
    method: "tools/call",
    isUnsent: false,
    isEnded: false,
    succeed: (result: unknown) => outcomes.push(result),
    fail: ({ code, message, evidence }: WireError) => outcomes.push({ code, message, evidence }),
  };
  return { exchange: exchange as unknown as Exchange & { isEnded: boolean }, outcomes };
}

const step = "tools/call";
const noResult = { code: "bad_message", message: "the response to tools/call has no result", evidence: { step } };

test.each<[Partial<RpcMessage>, unknown]>([
  [{ result: { a: 1 } }, { a: 1 }],
  [{ result: { a: 1 }, error: null }, { a: 1 }],
  [{ result: null }, {}],
  [{ result: "text" }, noResult],
  [{ result: [] }, noResult],
  [{}, noResult],
  [
    { result: { a: 1 }, error: { code: 7, message: "no" } },
    { code: "rpc", message: "no", evidence: { rpc: { code: 7 }, step } },
  ],
])("the response %j ends its request with %j", (response, outcome) => {
  const { exchange, outcomes } = request();
  settle(exchange, { jsonrpc: "2.0", id: 1, ...response });
  expect(outcomes).toEqual([outcome]);
});

test("a request is sent at once if there is nothing to prepare, and otherwise afterwards", async () => {
  for (const prepare of [() => undefined, async () => {}]) {
    const { exchange } = request();
    let wasUnsent: boolean | undefined;
    await sendAfter(prepare, exchange, async () => {
      wasUnsent = exchange.isUnsent;
    });
    expect(wasUnsent).toBe(false);
  }
  const { exchange } = request();
  const order: unknown[] = [];
  let prepared: () => void = () => {};
  const sending = sendAfter(
    () =>
      new Promise((resolve) => {
        prepared = resolve;
      }),
    exchange,
    async () => void order.push("sent"),
  );
  order.push(exchange.isUnsent);
  prepared();
  await sending;
  expect(order).toEqual([true, "sent"]);
});

test("a request that has ended meanwhile is not sent", async () => {
  const { exchange } = request();
  let count = 0;
  const sending = sendAfter(
    async () => {},
    exchange,
    async () => {
      count += 1;
    },
  );
  exchange.isEnded = true;
  await sending;
  expect([count, exchange.isUnsent]).toEqual([0, true]);
});

test.each([
  [
    "throws",
    () => {
      throw new WireError("proxy", "no", { httpStatus: 502 });
    },
  ],
  ["rejects", () => Promise.reject(new WireError("proxy", "no", { httpStatus: 502 }))],
])("if the preparation %s, the request fails as unsent", async (_how, prepare) => {
  const { exchange } = request();
  let count = 0;
  const sending = sendAfter(prepare, exchange, async () => {
    count += 1;
  });
  await expect(sending).rejects.toMatchObject({
    code: "proxy",
    message: "no",
    evidence: { httpStatus: 502, unsent: true },
    cause: { code: "proxy" },
  });
  expect(count).toBe(0);
});
