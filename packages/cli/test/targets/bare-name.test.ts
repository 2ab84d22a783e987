import { expect, test } from "vitest";
import { refuseUnsureName } from "../../src/targets/target.ts";

type States = Parameters<typeof refuseUnsureName>[2]["states"];
type Catalog = NonNullable<ReturnType<Parameters<typeof refuseUnsureName>[2]["catalog"]>>;

/** Looks up `echo` of the server `second`, whose neighbours have the given states. */
function refusal(word: string, statuses: Readonly<Record<string, string>>, cached: readonly string[] = []): unknown {
  const states = Object.entries(statuses).map(([name, status]) => ({ name, status })) as unknown as ReturnType<States>;
  const catalog = (name: string): Catalog | undefined => (cached.includes(name) ? ({} as Catalog) : undefined);
  try {
    refuseUnsureName(word, { server: "second", serverToolName: "echo" }, { states: () => states, catalog });
    return undefined;
  } catch (error) {
    return error;
  }
}

test.each(["disconnected", "needs_auth", "connecting", "disconnecting"])(
  "a bare name is refused while an earlier server is %s and its tools are unknown",
  (status) => {
    expect(refusal("echo", { first: status, second: "connected" })).toMatchObject({
      code: "usage",
      message: expect.stringContaining('"first" comes first in your settings'),
      next: "fairlead call second.echo …",
    });
    expect(refusal("echo", { first: status, second: "connected" }, ["first"])).toBeUndefined();
  },
);

test.each(["disabled", "blocked"])("a server that is %s cannot have the tool that is meant", (status) => {
  expect(refusal("echo", { first: status, second: "connected" })).toBeUndefined();
});

test("neither a later server nor a name with its server is in doubt", () => {
  expect(refusal("echo", { second: "connected", third: "disconnected" })).toBeUndefined();
  expect(refusal("second.echo", { first: "disconnected", second: "connected" })).toBeUndefined();
});
