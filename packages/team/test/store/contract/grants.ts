import { describe, expect, it } from "vitest";
import type { GrantKey, GrantStore, NewGrant, RefreshResult } from "../../../src/store/grants.ts";

const given = (secret: string, expiresAt?: number): NewGrant => ({
  issuer: "https://issuer.example",
  secret,
  expiresAt,
});
const refreshed = (secret: string): RefreshResult => ({ kind: "refreshed", grant: given(secret) });
const never = () => new AbortController().signal;

/** @param users Whether the store keeps users apart. The files of one machine have one. */
export function grantContract(open: () => GrantStore, { users }: { readonly users: boolean }): void {
  let count = 0;
  const newKey = (): GrantKey => {
    count += 1;
    return {
      tenant: 1,
      principal: users ? `iss#user-${count}` : "iss#ada",
      server: `server-${count}`,
      pin: `pin-${count}`,
    };
  };

  describe("sign-ins", () => {
    it("are stored, read, replaced and removed", async () => {
      const [store, key] = [open(), newKey()];
      expect(await store.read(key)).toBeUndefined();
      const first = await store.save(key, given("one", 5000));
      expect(first).toMatchObject({ secret: "one", expiresAt: 5000, issuer: "https://issuer.example" });
      expect(await store.read(key)).toMatchObject({ key, secret: "one", generation: first.generation });
      const second = await store.save(key, given("two"));
      expect(second.generation).toBeGreaterThan(first.generation);
      expect((await store.read(key))?.expiresAt).toBeUndefined();
      expect(await store.remove(key)).toBe(true);
      expect(await store.remove(key)).toBe(false);
      expect(await store.read(key)).toBeUndefined();
    });

    it("belong to one server and one definition of it", async () => {
      const [store, key] = [open(), newKey()];
      await store.save(key, given("one"));
      expect(await store.read({ ...key, server: "another" })).toBeUndefined();
      expect(await store.read({ ...key, pin: "another" })).toBeUndefined();
    });

    it("are refreshed once, for all who ask at once", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const sent: string[] = [];
      const grants = await Promise.all(
        Array.from({ length: 12 }, () =>
          store.refresh(
            key,
            generation,
            async ({ secret }) => {
              sent.push(secret);
              return refreshed("new");
            },
            never(),
          ),
        ),
      );
      expect(sent).toEqual(["old"]);
      for (const grant of grants) expect(grant).toMatchObject({ secret: "new" });
      expect(grants[0]?.generation).toBeGreaterThan(generation);
    });

    it("that are newer than the caller's are returned as they are", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      await store.save(key, given("new"));
      const found = await store.refresh(key, generation, () => Promise.reject(new Error("must not run")), never());
      expect(found?.secret).toBe("new");
    });

    it("that are gone are not refreshed", async () => {
      const [store, key] = [open(), newKey()];
      expect(await store.refresh(key, 1, () => Promise.reject(new Error("must not run")), never())).toBeUndefined();
    });

    it("are kept if a refresh fails without an answer, and the next one tries again", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const failing = store.refresh(key, generation, () => Promise.reject(new Error("cut off")), never());
      await expect(failing).rejects.toThrow("cut off");
      expect(await store.refresh(key, generation, async () => refreshed("new"), never())).toMatchObject({
        secret: "new",
      });
    });
  });
}

/** What only a store for several users and replicas promises. */
export function sharedGrantContract(open: () => GrantStore): void {
  let count = 0;
  const newKey = (): GrantKey => {
    count += 1;
    return { tenant: 1, principal: `iss#refused-${count}`, server: "server", pin: "pin" };
  };

  describe("sign-ins", () => {
    it("that the user replaced during a refresh are not overwritten by it", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const result = await store.refresh(
        key,
        generation,
        async () => {
          await store.save(key, given("signed in again"));
          return refreshed("late");
        },
        never(),
      );
      expect(result?.secret).toBe("signed in again");
      expect((await store.read(key))?.secret).toBe("signed in again");
    });

    it("that the user removed and made again during a refresh are not overwritten by it", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      await store.refresh(
        key,
        generation,
        async () => {
          await store.remove(key);
          await store.save(key, given("signed in again"));
          return refreshed("late");
        },
        never(),
      );
      expect((await store.read(key))?.secret).toBe("signed in again");
    });

    it("whose refresh token is refused are never refreshed again, until the user signs in", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const refused = await store.refresh(key, generation, async () => ({ kind: "refused" }), never());
      expect(refused).toMatchObject({ generation, refusedAt: expect.any(Number) });
      const again = store.refresh(key, generation, () => Promise.reject(new Error("must not run")), never());
      expect((await again)?.refusedAt).toBeDefined();
      expect((await store.save(key, given("new"))).refusedAt).toBeUndefined();
    });

    it("whose issuer could not answer are left alone until the end of the pause", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const pauseUntil = Date.now() + 3_600_000;
      const paused = await store.refresh(key, generation, async () => ({ kind: "failed", pauseUntil }), never());
      expect(paused).toMatchObject({ generation, pauseUntil, secret: "old" });
      const again = store.refresh(key, generation, () => Promise.reject(new Error("must not run")), never());
      expect((await again)?.secret).toBe("old");
    });

    it("whose pause is over are refreshed", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      await store.refresh(key, generation, async () => ({ kind: "failed", pauseUntil: Date.now() - 1 }), never());
      expect(await store.refresh(key, generation, async () => refreshed("new"), never())).toMatchObject({
        secret: "new",
      });
    });

    it("are refreshed to the end without the one who asked", async () => {
      const [store, key] = [open(), newKey()];
      const { generation } = await store.save(key, given("old"));
      const caller = new AbortController();
      const other = new AbortController();
      let answer: (result: RefreshResult) => void = () => undefined;
      const issuer = new Promise<RefreshResult>((resolve) => {
        answer = resolve;
      });
      const begun = new Promise<void>((resolve) => {
        void store
          .refresh(
            key,
            generation,
            () => {
              resolve();
              return issuer;
            },
            caller.signal,
          )
          .catch(() => undefined);
      });
      await begun;
      const waiting = store.refresh(key, generation, () => Promise.reject(new Error("must not run")), other.signal);
      caller.abort(new Error("the client has gone"));
      answer(refreshed("new"));
      const renewed = await waiting;
      expect(renewed?.secret).toBe("new");
      // The next refresh begins when the first one has released its lock, so nothing of it runs on after this test.
      const next = await store.refresh(key, renewed?.generation ?? 0, async () => refreshed("newer"), other.signal);
      expect(next?.secret).toBe("newer");
    });

    it("of a user are seen by no other user and no other tenant", async () => {
      const [store, key] = [open(), newKey()];
      await store.save(key, given("own"));
      for (const other of [
        { ...key, principal: "iss#eve" },
        { ...key, tenant: 2 },
      ]) {
        expect(await store.read(other)).toBeUndefined();
        expect(await store.list(other)).toEqual([]);
        expect(await store.remove(other)).toBe(false);
      }
      expect((await store.list(key)).map(({ secret }) => secret)).toEqual(["own"]);
    });
  });
}
