import { expect, test } from "vitest";
import { UnansweredRequests } from "../../src/relay/open-requests.ts";

const line = Buffer.from("{}\n");
const idsOf = (requests: Iterable<{ readonly id: string }>): readonly string[] => [...requests].map(({ id }) => id);

test("requests are kept in the order of their arrival until they are removed", () => {
  const open = new UnansweredRequests();
  for (const id of ["1", "2", "3"]) open.add(id, "tools/call", line);
  expect(open.remove("2")).toEqual({ id: "2", method: "tools/call", line, sent: undefined, losses: 0 });
  expect(open.remove("2")).toBeUndefined();
  expect([idsOf(open.all()), open.size]).toEqual([["1", "3"], 2]);
  expect(idsOf(open.takeAll())).toEqual(["1", "3"]);
  expect([idsOf(open.takeAll()), open.size]).toEqual([[], 0]);
});

test("a request that a server may have received is not repeated; what is unknown is ignored", () => {
  const open = new UnansweredRequests();
  for (const id of ["1", "2"]) open.add(id, "tools/call", line);
  open.noteSent(
    new Map([
      ["9", "files.none"],
      ["2", "files.write"],
    ]),
  );
  expect(open.takeLost()).toEqual([{ id: "2", method: "tools/call", line, sent: "files.write", losses: 1 }]);
  expect(idsOf(open.all())).toEqual(["1"]);
});

test("if the notes of a lost host cannot be read, every request that may have reached a server is lost", () => {
  const open = new UnansweredRequests();
  for (const [id, method] of [
    "tools/call",
    "tools/list",
    "prompts/get",
    "initialize",
    "resources/templates/list",
  ].entries())
    open.add(String(id), method, line);
  open.noteSent(undefined);
  expect(open.takeLost().map(({ id, sent }) => [id, sent])).toEqual([
    ["0", "tools/call"],
    ["2", "prompts/get"],
  ]);
  expect(idsOf(open.all())).toEqual(["1", "3", "4"]);
});

test("a request is given up with the third host that stops, unless a response in between shows that hosts work", () => {
  const open = new UnansweredRequests();
  open.add("1", "tools/call", line);
  expect([open.takeLost(), open.takeLost()]).toEqual([[], []]);
  open.forgive();
  expect([open.takeLost(), open.takeLost()]).toEqual([[], []]);
  expect(open.takeLost()).toMatchObject([{ id: "1", losses: 3 }]);
  expect(open.size).toBe(0);
});

test("an open stream of changes is the only request without a response to come", () => {
  const open = new UnansweredRequests();
  expect(open.awaitsResponse()).toBe(false);
  open.add("1", "subscriptions/listen", line);
  expect(open.awaitsResponse()).toBe(false);
  open.add("2", "ping", line);
  expect(open.awaitsResponse()).toBe(true);
});
