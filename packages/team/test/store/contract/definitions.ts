import { describe, expect, it } from "vitest";
import type { DefinitionStore } from "../../../src/store/definitions.ts";

/** @param tenants Whether the store keeps tenants apart. The files of one machine have one. */
export function definitionContract(open: () => DefinitionStore, { tenants }: { readonly tenants: boolean }): void {
  const news = (...names: readonly string[]) => new Map(names.map((name) => [name, [`digest of ${name}`]]));
  let count = 0;
  const newServer = () => {
    count += 1;
    return { server: `server-${count}` };
  };

  describe("accepted definitions", () => {
    it("are empty at first", async () => {
      const accepted = await open().read(1, newServer());
      expect(accepted.of("tool")).toBeUndefined();
      expect(accepted.isFull).toBe(false);
    });

    it("are there after they were added, with those of others", async () => {
      const [store, server] = [open(), newServer()];
      await store.add(1, server, news("one"), "ada");
      const all = await store.add(1, server, news("two"), "eve");
      for (const accepted of [all, await store.read(1, server)]) {
        expect(accepted.of("one")).toEqual(["digest of one"]);
        expect(accepted.of("two")).toEqual(["digest of two"]);
        expect(accepted.of("three")).toBeUndefined();
      }
    });

    it("are not lost if several are added at once", async () => {
      const [store, server] = [open(), newServer()];
      const names = Array.from({ length: 12 }, (_, index) => `tool ${index}`);
      await Promise.all(names.map((name) => store.add(1, server, news(name), "ada")));
      const accepted = await store.read(1, server);
      for (const name of names) expect(accepted.of(name), name).toEqual([`digest of ${name}`]);
    });

    it("keep the last eight digests of a tool", async () => {
      const [store, server] = [open(), newServer()];
      const digests = Array.from({ length: 10 }, (_, index) => `d${index}`);
      for (const digest of [...digests, "d5"]) await store.add(1, server, new Map([["tool", [digest]]]), "ada");
      expect((await store.read(1, server)).of("tool")).toEqual(["d2", "d3", "d4", "d6", "d7", "d8", "d9", "d5"]);
    });

    it("belong to one server, one folder and one fingerprint", async () => {
      const [store, { server }] = [open(), newServer()];
      await store.add(1, { server }, news("one"), "ada");
      await store.add(1, { server, workspace: "/w" }, news("two"), "ada");
      await store.add(1, { server, fingerprint: "/w" }, news("three"), "ada");
      expect((await store.read(1, { server })).of("two")).toBeUndefined();
      expect((await store.read(1, { server, workspace: "/w" })).of("three")).toBeUndefined();
      expect((await store.read(1, { server, fingerprint: "/w" })).of("three")).toEqual(["digest of three"]);
    });

    it("have at most 5 000 tools, and say so", async () => {
      const [store, server] = [open(), newServer()];
      await store.add(1, server, news("early", ...Array.from({ length: 4_998 }, (_, index) => `t${index}`)), "ada");
      expect((await store.read(1, server)).isFull).toBe(false);
      const full = await store.add(1, server, news("last", "too many"), "ada");
      expect(full.isFull).toBe(true);
      expect(full.of("last")).toEqual(["digest of last"]);
      expect(full.of("too many")).toBeUndefined();
      expect((await store.read(1, server)).of("early")).toEqual(["digest of early"]);
    });

    if (tenants)
      it("of a tenant are not those of another", async () => {
        const [store, server] = [open(), newServer()];
        await store.add(1, server, news("one"), "ada");
        expect((await store.read(2, server)).of("one")).toBeUndefined();
      });
  });
}
