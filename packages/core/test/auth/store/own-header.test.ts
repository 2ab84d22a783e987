import { expect, test } from "vitest";
import { bringsOwnHeader } from "../../../src/auth/store/sign-in-state.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";

test.each<[string, object, boolean]>([
  ["a header, however it is written", { httpUrl: "https://h/", headers: { AUTHORIZATION: "Bearer x" } }, true],
  ["another header", { httpUrl: "https://h/", headers: { "X-Authorization": "x" } }, false],
  ["no header", { httpUrl: "https://h/" }, false],
  ["a program", { command: "x" }, false],
  [
    "a header beside a wish to sign in",
    { httpUrl: "https://h/", headers: { Authorization: "x" }, oauth: { enabled: true } },
    false,
  ],
  [
    "a header beside a wish not to",
    { httpUrl: "https://h/", headers: { Authorization: "x" }, oauth: { enabled: false } },
    true,
  ],
])("%s", async (_, entry, isOwn) => {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: entry } });
  const { definition } = serverOf(await world.load(), "s");
  expect(definition && bringsOwnHeader(definition)).toBe(isOwn);
});
