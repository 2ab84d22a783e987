import fc from "fast-check";
import { expect, it } from "vitest";
import { createLineFrames } from "../../src/relay/line-frames.ts";
import { scanHostLine, scanMessage } from "../../src/relay/scan-message.ts";

function scan(text: string): ReturnType<typeof scanMessage> {
  return scanMessage(Buffer.from(text));
}

it("finds id and method anywhere among the members", () => {
  expect(scan('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1}}')).toEqual({
    id: "7",
    method: "tools/call",
  });
  expect(scan('{"params":{"id":9,"method":"no"},"method":"ping","jsonrpc":"2.0","id":"a\\"b"}')).toEqual({
    id: '"a\\"b"',
    method: "ping",
  });
  expect(scan(' { "result" : [1,{"a":"}\\\\"}] , "id" : 12 } ')).toEqual({ id: "12", method: undefined });
  expect(scan('{"jsonrpc":"2.0","id":"a-1","method":"ping"}')).toEqual({ id: '"a-1"', method: "ping" });
  expect(scan('{"jsonrpc":"2.0","id":"\\u0041","method":"ping"}')).toEqual({ id: '"A"', method: "ping" });
  expect(scan('{"id":null,"method":"x"}')).toEqual({ id: undefined, method: "x" });
  expect(scan('{"id":"\\u0041"}')).toEqual({ id: '"A"', method: undefined });
});

it.each(["", "[]", "null", '"{"', '{"id"', '{"a":{', '{"a" 1}'])("makes nothing of %s", (text) => {
  expect(scan(text)?.id).toBeUndefined();
  expect(scan(text)?.method).toBeUndefined();
});

it("reads every message like a parser", () => {
  const message = fc.record(
    {
      params: fc.jsonValue(),
      id: fc.oneof(fc.integer(), fc.string()),
      result: fc.jsonValue(),
      method: fc.string(),
      ü: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(message, fc.constantFrom(undefined, 1), (value, space) => {
      const line = Buffer.from(JSON.stringify(value, undefined, space).replaceAll("\n", " "));
      for (const found of [scanMessage(line), scanHostLine(line)]) {
        if ("id" in value) expect(found?.id).toBe(JSON.stringify(value.id));
        expect(found?.method).toBe(value.method);
      }
    }),
  );
});

it("passes on every byte of the lines that are wanted, however they are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.nat(40)), (texts, cuts) => {
      const lines = texts.map((text) => `${text.replaceAll("\n", "")}\n`);
      const bytes = Buffer.from(lines.join(""));
      const seen: string[] = [];
      const passed: Buffer[] = [];
      const frames = createLineFrames(1000, () => {});
      let from = 0;
      for (const cut of [...cuts, bytes.length]) {
        const chunk = bytes.subarray(from, from + cut);
        from += cut;
        passed.push(
          ...frames.push(chunk, (line) => {
            seen.push(line.toString("utf8"));
            return line.length % 2 === 0 ? line : undefined;
          }),
        );
      }
      expect(seen).toEqual(lines);
      expect(Buffer.concat(passed).toString("utf8")).toBe(
        lines.filter((line) => Buffer.byteLength(line) % 2 === 0).join(""),
      );
    }),
  );
});

it("gives up on a line that is too long", () => {
  let isOver = false;
  const frames = createLineFrames(10, () => {
    isOver = true;
  });
  frames.push(Buffer.from("0123456789"), (line) => line);
  expect(isOver).toBe(false);
  frames.push(Buffer.from("0"), (line) => line);
  expect(isOver).toBe(true);
  expect(frames.push(Buffer.from("\n"), (line) => line)).toEqual([]);
});
