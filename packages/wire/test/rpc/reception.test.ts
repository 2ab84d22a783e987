import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { createReception } from "../../src/rpc/reception.ts";

const message = (id: number) => ({ jsonrpc: "2.0", id, result: {} }) as const;
const limits = { unsolicitedMessageBytes: 7 };

/** A reception, and a receiver that notes what it gets. */
function reception(receive: (id: unknown) => "requests" | undefined = () => undefined) {
  const [got, diagnostics]: [unknown[], string[]] = [[], []];
  const made = createReception({ limits, onDiagnostic: (text) => diagnostics.push(text) });
  const receiver = {
    receive: ({ id }: { readonly id?: unknown }, size: number, about?: number) => {
      got.push([id, size, about]);
      return receive(id);
    },
    largest: () => 99,
    dropped: (start: string) => void got.push(["dropped", start]),
    end: (cause: WireError | undefined) => void got.push(["end", cause]),
  };
  return { ...made, attach: () => made.attach(receiver as never), got, diagnostics };
}

test("what comes before the receiver is kept in order, and counts as notifications", () => {
  const { events, attach, got } = reception();
  expect([events.message(message(1), 10), events.message(message(2), 20)]).toEqual(["notifications", "notifications"]);
  expect(events.largest()).toBe(7);
  const cause = new WireError("closed", "gone");
  events.closed(cause);
  expect(got).toEqual([]);
  attach();
  expect(got).toEqual([
    [1, 10, undefined],
    [2, 20, undefined],
    ["end", cause],
  ]);
});

test("with a receiver, messages reach it at once, and it says how they count", () => {
  const { events, attach, got } = reception((id) => (id === 1 ? "requests" : undefined));
  attach();
  expect([events.message(message(1), 10, 5), events.message(message(2), 20)]).toEqual(["requests", undefined]);
  expect(got).toEqual([
    [1, 10, 5],
    [2, 20, undefined],
  ]);
  expect(events.largest()).toBe(99);
  events.closed(undefined);
  expect(got.at(-1)).toEqual(["end", undefined]);
});

test("a message that cannot be handled ends nothing, is told, and counts as a notification", () => {
  const { events, attach, diagnostics } = reception((id) => {
    if (id === 1) throw new RangeError("too deep");
    return undefined;
  });
  attach();
  expect(events.message(message(1), 10)).toBe("notifications");
  expect(diagnostics).toEqual(["a message could not be handled: too deep"]);
  expect(events.message(message(2), 10)).toBeUndefined();
});
