import { expect, test } from "vitest";
import { createHttpOwners } from "../../src/serve/http-owners.ts";
import type { PostAnswer } from "../../src/serve/post-answer.ts";

const limits = { sessions: 2, requests: 2, ownerRequests: 5, streams: 1, unsentBytes: 1000 };

function owners() {
  let time = 0;
  const all = createHttpOwners(limits, () => time);
  return {
    all,
    at: (now: number) => {
      time = now;
    },
  };
}

/** An open response that notes what happens to it. */
function noting(events: string[]): PostAnswer {
  return { keepAlive: () => events.push("comment"), abandon: () => events.push("end") } as unknown as PostAnswer;
}

test("each owner has its own sessions, with ids that cannot be guessed", () => {
  const { all } = owners();
  const created = all.get("a").createSession();
  expect(created?.id).toMatch(/^[0-9a-f]{32}$/);
  expect(all.get("a").findSession(created?.id ?? "")).toBe(created?.session);
  expect(all.get("b").findSession(created?.id ?? "")).toBeUndefined();
  expect(all.get("a").findSession("other")).toBeUndefined();
});

test("at the limit, a new session replaces the one that was unused for longest", () => {
  const owner = owners().all.get("a");
  const [one, two] = [owner.createSession(), owner.createSession()];
  // The first one is used again, so the second one is the oldest.
  owner.findSession(one?.id ?? "");
  const three = owner.createSession();
  const isOpen = [one, two, three].map((each) => owner.findSession(each?.id ?? "") !== undefined);
  expect(isOpen).toEqual([true, false, true]);
});

test("requests and streams are counted up to their limits, until they leave", () => {
  const { all } = owners();
  const owner = all.get("a");
  const leave = owner.enter("requests");
  expect([owner.enter("requests"), owner.enter("streams"), all.get("b").enter("streams")]).toEqual([
    expect.any(Function),
    expect.any(Function),
    expect.any(Function),
  ]);
  expect([owner.enter("requests"), owner.enter("streams")]).toEqual([undefined, undefined]);
  leave?.();
  expect(owner.enter("requests")).toBeDefined();
  expect(owner.enter("requests")).toBeUndefined();
});

test("requests count for their session, so that other sessions do not wait, up to a limit for the owner", () => {
  const owner = owners().all.get("a");
  const [one, two] = [owner.createSession()?.id, owner.createSession()?.id];
  const leave = owner.enter("requests", one);
  expect([owner.enter("requests", one), owner.enter("requests", one)]).toEqual([expect.any(Function), undefined]);
  expect([owner.enter("requests", two), owner.enter("requests", two)]).not.toContain(undefined);
  expect([owner.enter("requests"), owner.enter("requests")]).toEqual([expect.any(Function), undefined]);
  leave?.();
  expect(owner.enter("requests", one)).toBeDefined();
});

test("idle sessions end if they were last used before a time, and open responses get a comment", () => {
  const { all, at } = owners();
  const owner = all.get("a");
  const events: string[] = [];
  owner.answers.add(noting(events));
  const old = owner.createSession();
  at(10);
  const young = owner.createSession();
  all.sweep(10);
  expect([old, young].map((each) => owner.findSession(each?.id ?? "") !== undefined)).toEqual([false, true]);
  expect(events).toEqual(["comment"]);
  at(20);
  owner.findSession(young?.id ?? "");
  all.sweep(20);
  expect(owner.findSession(young?.id ?? "")).toBe(young?.session);
});

test("at the end, all sessions and open responses end", () => {
  const { all } = owners();
  const events: string[] = [];
  all.get("a").answers.add(noting(events));
  const created = all.get("b").createSession();
  all.end();
  expect(events).toEqual(["end"]);
  expect(all.get("b").findSession(created?.id ?? "")).toBeUndefined();
});
