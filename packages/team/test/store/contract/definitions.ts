import { describe, expect, it } from "vitest";
import type { DefinitionStore } from "../../../src/store/definitions.ts";

/** @param users Whether the store keeps users and tenants apart. The files of one machine have one user. */
export function definitionContract(open: () => DefinitionStore, { users }: { readonly users: boolean }): void {
  const news = (...names: readonly string[]) => new Map(names.map((name) => [name, [`digest of ${name}`]]));
  const ada = { tenant: 1, principal: "iss#ada" };
  let count = 0;
  const newServer = () => {
    count += 1;
    return { server: `server-${count}` };
  };

  describe("accepted definitions", () => {
    it("are empty at first", async () => {
      const accepted = await open().read(ada, newServer());
      expect(accepted.of("tool")).toBeUndefined();
      expect(accepted.isFull).toBe(false);
    });

    it("are there after they were added, with those of others", async () => {
      const [store, server] = [open(), newServer()];
      await store.add(ada, server, news("one"));
      const all = await store.add(ada, server, news("two"));
      for (const accepted of [all, await store.read(ada, server)]) {
        expect(accepted.of("one")).toEqual(["digest of one"]);
        expect(accepted.of("two")).toEqual(["digest of two"]);
        expect(accepted.of("three")).toBeUndefined();
      }
    });

    it("are not lost if several are added at once", async () => {
      const [store, server] = [open(), newServer()];
      const names = Array.from({ length: 12 }, (_, index) => `tool ${index}`);
      await Promise.all(names.map((name) => store.add(ada, server, news(name))));
      const accepted = await store.read(ada, server);
      for (const name of names) expect(accepted.of(name), name).toEqual([`digest of ${name}`]);
    });

    it("keep the last eight digests of a tool", async () => {
      const [store, server] = [open(), newServer()];
      const digests = Array.from({ length: 10 }, (_, index) => `d${index}`);
      for (const digest of [...digests, "d5"]) await store.add(ada, server, new Map([["tool", [digest]]]));
      expect((await store.read(ada, server)).of("tool")).toEqual(["d2", "d3", "d4", "d6", "d7", "d8", "d9", "d5"]);
    });

    it("belong to one server, one folder and one fingerprint", async () => {
      const [store, { server }] = [open(), newServer()];
      await store.add(ada, { server }, news("one"));
      await store.add(ada, { server, workspace: "/w" }, news("two"));
      await store.add(ada, { server, fingerprint: "/w" }, news("three"));
      expect((await store.read(ada, { server })).of("two")).toBeUndefined();
      expect((await store.read(ada, { server, workspace: "/w" })).of("three")).toBeUndefined();
      expect((await store.read(ada, { server, fingerprint: "/w" })).of("three")).toEqual(["digest of three"]);
    });

    it("have at most 5 000 tools, and say so", async () => {
      const [store, server] = [open(), newServer()];
      await store.add(ada, server, news("early", ...Array.from({ length: 4_998 }, (_, index) => `t${index}`)));
      expect((await store.read(ada, server)).isFull).toBe(false);
      const full = await store.add(ada, server, news("last", "too many"));
      expect(full.isFull).toBe(true);
      expect(full.of("last")).toEqual(["digest of last"]);
      expect(full.of("too many")).toBeUndefined();
      expect((await store.read(ada, server)).of("early")).toEqual(["digest of early"]);
    });

    if (users)
      it("of a user are not those of another one, and of a tenant not those of another", async () => {
        const [store, server] = [open(), newServer()];
        await store.add(ada, server, news("one"));
        expect((await store.read({ ...ada, tenant: 2 }, server)).of("one")).toBeUndefined();
        expect((await store.read({ ...ada, principal: "iss#eve" }, server)).of("one")).toBeUndefined();
      });
  });
}
