import { expect, test } from "vitest";
import { rootsFor } from "../../src/server/roots.ts";

type Given = Parameters<typeof rootsFor>;

test.each([
  [true, true, [{ uri: "file:///work/my%20app", name: "my app" }]],
  [true, false, []],
  [false, true, []],
  [false, false, []],
])("a server whose setting is %j, in a folder whose trust is %j, gets the roots %j", (roots, trusted, expected) => {
  const definition = { extras: { roots } } as Given[0];
  const configuration = { trust: { trusted }, locations: { root: "/work/my app" } } as Given[1];
  expect(rootsFor(definition, configuration)).toEqual(expected);
});
