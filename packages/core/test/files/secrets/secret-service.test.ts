import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { hasSecretService, readBusMessage } from "../../../src/files/secrets/secret-service.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { type Bus, no, serviceUnknown, sessionBus, started, writeBytes, yes } from "../../support/session-bus.ts";

const buses: readonly (readonly [what: string, bus: Bus, expected: boolean | "none in time"])[] = [
  ["a service that is running", { hasOwner: yes }, true],
  ["the same, byte by byte", { hasOwner: yes, send: writeBytes }, true],
  ["a service that can be started", { hasOwner: no, start: started }, true],
  ["no service", { hasOwner: no, start: serviceUnknown }, false],
  ["a bus that does not let us in", { auth: "REJECTED EXTERNAL\r\n" }, false],
  ["a bus that hangs up", { send: (socket) => socket.destroy() }, false],
  [
    "a bus that hangs up in mid-answer",
    { hasOwner: yes, send: (socket, bytes) => socket.end(bytes.subarray(0, -1)) },
    false,
  ],
  ["something that is no bus", { auth: "HTTP/1.1 400 Bad Request\r\n\r\n" }, false],
  ["something that never stops talking", { auth: "O".repeat(100_000) }, false],
  [
    "an answer that is no message",
    { hasOwner: Buffer.from("6c02010104000000030000000800000005017300ffffffff00000000", "hex") },
    "none in time",
  ],
  ["a service that never starts", { hasOwner: no }, "none in time"],
  ["a bus that never answers", { send: () => undefined }, "none in time"],
];

test.each(buses)("%s", async (_, bus, expected) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "bus");
  using _server = await sessionBus(path, bus);
  const clock = manualClock();
  const answer = hasSecretService(`unix:path=${path}`, clock);
  if (expected === "none in time") {
    const isOpen = Promise.race([answer.then(() => false), clock.pass(1999).then(() => true)]);
    expect(await isOpen).toBe(true);
    await clock.pass(1);
  }
  expect(await answer).toBe(expected === true);
  expect(clock.pending()).toBe(0);
});

test.each([
  ["more keys", (path: string) => `unix:runtime=yes,path=${path},guid=60d5565efd4b2a56`],
  ["escaped letters", (path: string) => `unix:path=${path.replaceAll("b", "%62")}`],
  ["several addresses", (path: string) => `tcp:host=localhost,port=1;unix:path=${path}`],
])("an address with %s is understood", async (_, address) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "bus");
  using _server = await sessionBus(path, { hasOwner: yes });
  expect(await hasSecretService(address(path), manualClock())).toBe(true);
});

test.each([
  undefined,
  "",
  "tcp:host=localhost,port=1",
  "unix:path=/nowhere/bus",
  "unix:abstract=fairlead-nobody",
  "autolaunch:",
  "unix:",
])("behind the address %j there is nothing", async (address) => {
  expect(await hasSecretService(address)).toBe(false);
});

test("the fields of a message are read in any order", () => {
  // A return with a signature ("b"), then the serial number 3 of the call, then a body of four bytes.
  const start = "6c020101" + "04000000" + "07000000" + "10000000";
  const message = Buffer.from(`${start}08016700016200000501750003000000${"01000000"}`, "hex");
  expect(readBusMessage(message)).toMatchObject({
    isReturn: true,
    replyTo: 3,
    length: 36,
    body: Buffer.from([1, 0, 0, 0]),
  });
});
