import { expect, test } from "vitest";
import { createTaskOwners } from "../../src/bridge/task-owners.ts";

const [host, otherHost] = [{}, {}];
const [ann, bob] = [{ name: "ann" }, { name: "bob" }];
const task = (taskId: unknown, resultType = "task") => ({ server: "jobs", result: { resultType, taskId } });
const request = (taskId: string, more: { readonly server?: string; readonly method?: string } = {}) => ({
  server: "jobs",
  method: "tasks/get",
  params: { taskId },
  ...more,
});

test("only the client that started a task can use the task", () => {
  const owners = createTaskOwners();
  owners.note(host, ann, task("1"));
  expect(() => owners.check(host, ann, request("1"))).not.toThrow();
  expect(() => owners.check(host, bob, request("1"))).toThrow("unknown task");
  expect(() => owners.check(host, bob, request("1", { method: "tasks/cancel" }))).toThrow("unknown task");
});

test("a task of an earlier gateway, of another server or of another host has no known owner", () => {
  const owners = createTaskOwners();
  owners.note(host, ann, task("1"));
  for (const [where, asked] of [
    [host, request("2")],
    [host, request("1", { server: "other" })],
    [otherHost, request("1")],
  ] as const)
    expect(() => owners.check(where, bob, asked)).not.toThrow();
});

test("a request that is not about a task is not checked, even if its parameters have a taskId", () => {
  const owners = createTaskOwners();
  owners.note(host, ann, task("1"));
  expect(() => owners.check(host, bob, request("1", { method: "tools/call" }))).not.toThrow();
});

test("a result that starts no task records no owner", () => {
  const owners = createTaskOwners();
  owners.note(host, ann, task("1", "complete"));
  owners.note(host, ann, task(1));
  expect(() => owners.check(host, bob, request("1"))).not.toThrow();
});

test("of more than 10 000 tasks the oldest are forgotten", () => {
  const owners = createTaskOwners();
  for (let id = 0; id <= 10_000; id += 1) owners.note(host, ann, task(String(id)));
  expect(() => owners.check(host, bob, request("0"))).not.toThrow();
  expect(() => owners.check(host, bob, request("1"))).toThrow("unknown task");
});
