import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { Exchange } from "../../src/rpc/exchange.ts";
import { OpenRequests } from "../../src/rpc/open-requests.ts";

function request(method = "a", isFollowed = false) {
  const failures: WireError[] = [];
  const exchange = { id: -1, method, isFollowed, fail: (error: WireError) => failures.push(error) };
  return { exchange: exchange as unknown as Exchange, failures };
}

test("requests are numbered from 1, and found until they are removed", () => {
  const open = new OpenRequests();
  const [one, two] = [request().exchange, request().exchange];
  expect([open.add(one), open.add(two), one.id, two.id, open.size]).toEqual([1, 2, 1, 2, 2]);
  expect([open.get(1), open.get(2)]).toEqual([one, two]);
  expect(open.get(1)).toBe(one);
  // An id that shares its slot with an open request belongs to no request.
  expect([open.has(1), open.has(33), open.has(0), open.get(33)]).toEqual([true, false, false, undefined]);
  expect([open.delete(33), open.delete(1), open.delete(1)]).toEqual([false, true, false]);
  expect([open.has(1), open.size, open.values()]).toEqual([false, 1, [two]]);
});

test("all requests stay in their order while there are ever more, and an id is never used twice", () => {
  const open = new OpenRequests();
  const all = Array.from({ length: 100 }, () => request().exchange);
  expect(all.map((one) => open.add(one))).toEqual(all.map((_, at) => at + 1));
  expect(open.values()).toEqual(all);
  for (let id = 2; id <= 100; id += 1) expect(open.delete(id)).toBe(true);
  // The first request stays open: ids that would need its slot are left out.
  const later = Array.from({ length: 300 }, () => {
    const id = open.add(request().exchange);
    open.delete(id);
    return id;
  });
  expect(new Set(later).size).toBe(300);
  expect(Math.min(...later)).toBe(101);
  expect([open.get(1) === all[0], open.size]).toEqual([true, 1]);
});

test("cleared, it has no requests; those that were open are returned", () => {
  const open = new OpenRequests();
  expect([open.values(), open.clear()]).toEqual([[], []]);
  const all = [request().exchange, request().exchange];
  for (const one of all) open.add(one);
  expect(open.clear()).toEqual(all);
  expect([open.size, open.has(1), open.values(), open.clear()]).toEqual([0, false, [], []]);
});

test("requests that were sent together fail together, with their own steps; others and followed ones do not", async () => {
  const open = new OpenRequests();
  const requests = [request("a"), request("b"), request("c", true), request("d"), request("e")];
  for (const { exchange } of requests) open.add(exchange);
  const cause = new WireError("send_blocked", "no");
  const sent = Promise.reject(cause);
  for (const id of [1, 2, 3, 4]) open.failWith(sent, id);
  open.failWith(Promise.resolve(), 5);
  open.delete(4);
  await sent.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(requests.map(({ failures }) => failures.map(({ code, evidence }) => [code, evidence.step]))).toEqual([
    [["send_blocked", "a"]],
    [["send_blocked", "b"]],
    [],
    [],
    [],
  ]);
  expect(open.values().map(({ method }) => method)).toEqual(["c", "e"]);
});
