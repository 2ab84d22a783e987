import { expect, expectTypeOf, test } from "vitest";
import type * as wire from "../src/index.ts";
import { connect, createProcessKeeper, createProcessRegistry } from "../src/index.ts";

test("deprecated names mean the same as the new names", () => {
  expect(createProcessKeeper()).toMatchObject({ register: expect.any(Function) });
  expectTypeOf(createProcessKeeper).toEqualTypeOf(createProcessRegistry);
  expectTypeOf<wire.ProcessKeeper>().toEqualTypeOf<wire.ProcessRegistry>();
  expectTypeOf<wire.KeeperOptions>().toEqualTypeOf<wire.ProcessRegistryOptions>();
  expectTypeOf<wire.Dropped>().toEqualTypeOf<wire.DroppedItem>();
  expectTypeOf<wire.RequestOptions>().toEqualTypeOf<wire.McpRequestOptions>();
  expectTypeOf<wire.Verdict>().toEqualTypeOf<wire.NegotiatedProtocol>();
  expectTypeOf<wire.Session["verdict"]>().toEqualTypeOf<wire.Session["protocol"]>();
});

/** Registers no process, so that `connect` fails before it starts one. Counts the attempts. */
function refusingRegistry(): wire.ProcessRegistry & { readonly count: () => number } {
  let attempts = 0;
  return {
    async register() {
      attempts += 1;
      throw new Error("no process may start");
    },
    count: () => attempts,
  };
}

test("the option `keeper` of `connect` is the registry of processes, unless `processes` is given too", async () => {
  const target = { kind: "stdio", command: process.execPath, args: [], env: {}, cwd: "/" } as const;
  const clientInfo = { name: "test", version: "1" };
  const keeper = refusingRegistry();
  await expect(connect(target, { clientInfo, era: "legacy", keeper })).rejects.toThrow();
  expect(keeper.count()).toBe(1);
  const processes = refusingRegistry();
  await expect(connect(target, { clientInfo, era: "legacy", keeper, processes })).rejects.toThrow();
  expect([keeper.count(), processes.count()]).toEqual([1, 1]);
});
