import { describe, expect, it } from "vitest";
import type { SavedApproval, UserApprovalStore } from "../../../src/store/approvals.ts";

/** @param users Whether the store keeps users apart. The files of one machine have one. */
export function approvalContract(
  open: () => UserApprovalStore,
  newApproval: (tool: string, at: number, client?: string) => SavedApproval,
  { users }: { readonly users: boolean },
): void {
  let count = 0;
  const newOwner = () => {
    count += 1;
    return { tenant: 1, principal: `iss#user-${count}` };
  };
  const ada = { tenant: 1, principal: "iss#ada" };
  const owned = () => (users ? newOwner() : ada);

  describe("saved approvals", () => {
    it("are listed newest first", async () => {
      const [store, owner] = [open(), owned()];
      const approvals = [newApproval("one", 1000), newApproval("two", 3000, "client"), newApproval("three", 2000)];
      for (const approval of approvals) await store.save(owner, approval);
      const listed = (await store.list(owner)).map(({ tool, client, at }) => ({ tool, client, at }));
      expect(listed.slice(0, 3)).toEqual([
        { tool: "two", client: "client", at: approvals[1]?.at },
        { tool: "three", client: undefined, at: approvals[2]?.at },
        { tool: "one", client: undefined, at: approvals[0]?.at },
      ]);
    });

    it("are replaced by a newer one with the same key, for the same client", async () => {
      const [store, owner] = [open(), owned()];
      await store.save(owner, newApproval("again", 1000));
      await store.save(owner, newApproval("again", 2000, "client"));
      await store.save(owner, newApproval("again", 3000));
      const listed = (await store.list(owner)).filter(({ tool }) => tool === "again");
      expect(listed.map(({ client, at }) => [client, Date.parse(at)])).toEqual([
        [undefined, 3000],
        ["client", 2000],
      ]);
    });

    it("keep what was approved", async () => {
      const [store, owner] = [open(), owned()];
      const approval = newApproval("kept", 4000);
      await store.save(owner, approval);
      const [found] = (await store.list(owner)).filter(({ tool }) => tool === "kept");
      expect(found).toMatchObject({ fingerprint: approval.fingerprint, digest: approval.digest, kind: "tool" });
      expect(found?.definition).toBe(approval.definition);
    });

    it("are removed by their key", async () => {
      const [store, owner] = [open(), owned()];
      const approval = newApproval("removed", 5000);
      await store.save(owner, approval);
      expect(await store.remove(owner, { ...approval, client: "another" })).toBe(false);
      expect(await store.remove(owner, approval)).toBe(true);
      expect(await store.remove(owner, approval)).toBe(false);
      expect((await store.list(owner)).filter(({ tool }) => tool === "removed")).toEqual([]);
    });

    it("are not lost if several are saved at once", async () => {
      const [store, owner] = [open(), owned()];
      const tools = Array.from({ length: 10 }, (_, index) => `at once ${index}`);
      await Promise.all(tools.map((tool) => store.save(owner, newApproval(tool, 6000))));
      const listed = (await store.list(owner)).map(({ tool }) => tool).filter((tool) => tools.includes(tool));
      expect(listed.toSorted()).toEqual(tools);
    });

    if (users)
      it("of a user are seen by no other user and no other tenant", async () => {
        const [store, owner] = [open(), owned()];
        await store.save(owner, newApproval("own", 1000));
        expect(await store.list(newOwner())).toEqual([]);
        expect(await store.list({ ...owner, tenant: 2 })).toEqual([]);
        expect(await store.remove({ ...owner, tenant: 2 }, newApproval("own", 1000))).toBe(false);
      });
  });
}
