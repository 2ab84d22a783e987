import { expect, test } from "vitest";
import { cancelledLine, errorLine, listChangedLine, lostLine, ofBatch } from "../../src/relay/relay.ts";

const messagesIn = (text: string): readonly string[] => ofBatch(Buffer.from(text)).map(String);

test("a batch is read as its messages, one for each line; what is no message in it is left out", () => {
  expect(messagesIn('[{"id":1}, [{"id":2}], null, "x", 3, {"id":4}]')).toEqual(['{"id":1}\n', '{"id":4}\n']);
});

test.each(["[", "", '{"id":1}', "1", "null"])("no messages are read from %j", (text) => {
  expect(messagesIn(text)).toEqual([]);
});

test("of a batch at most 100 messages are read", () => {
  const batch = JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ id })));
  expect(messagesIn(batch)).toHaveLength(100);
  expect(messagesIn(batch).at(-1)).toBe('{"id":99}\n');
});

test("a lost request is answered with what may have happened", () => {
  expect(errorLine('"a"', "no", { reason: "x" })).toBe(
    '{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no","data":{"reason":"x"}}}\n',
  );
  const open = { id: "7", method: "tools/call", line: Buffer.from(""), losses: 2 };
  expect(JSON.parse(lostLine({ ...open, sent: "files.write" }))).toMatchObject({
    id: 7,
    error: {
      message: "the gateway was restarted; files.write may have run",
      data: { reason: "lost", subject: "files.write" },
    },
  });
  expect(JSON.parse(lostLine({ ...open, sent: undefined }))).toMatchObject({
    error: {
      message: "the gateway stopped 2 times while it handled this request; no server received the request",
      data: { reason: "unreachable", next: "fairlead daemon logs" },
    },
  });
});

test("notifications are whole messages; parameters stand in them only if there are any", () => {
  expect(JSON.parse(cancelledLine('"q1"'))).toEqual({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "q1", reason: "the gateway was restarted" },
  });
  expect(listChangedLine("tools")).toBe('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n');
});
