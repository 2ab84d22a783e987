import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { loadSnapshots, Snapshots, snapshotPath } from "../../src/checks/run-checks.ts";
import { expectRefusal } from "../support/expect-refusal.ts";

test.each([
  ["a.yaml", "a.snap.json"],
  ["dir.json/a.YML", "dir.json/a.snap.json"],
  ["a.json", "a.snap.json"],
  ["a.json.txt", "a.json.txt.snap.json"],
])("the snapshots of %s are in %s", (file, path) => {
  expect(snapshotPath(file)).toBe(path);
});

const unlike = (before: unknown) => [`was ${JSON.stringify(before)}`];

test("without update, a snapshot is compared and never written", () => {
  const snapshots = new Snapshots({ a: { x: 1, y: 2 }, none: null }, false);
  expect(snapshots.compare("a", { y: 2, x: 1 }, unlike)).toEqual({ problems: [], isUpdated: false });
  expect(snapshots.compare("a", 2, unlike)).toEqual({ problems: ['was {"x":1,"y":2}'], isUpdated: false });
  expect(snapshots.compare("none", null, unlike)).toEqual({ problems: [], isUpdated: false });
  expect(snapshots.compare("new", undefined, unlike)).toEqual({
    problems: ["there is no snapshot yet: run the command again with --update"],
    isUpdated: false,
  });
  expect(snapshots.changedText()).toBeUndefined();
});

test("with update, only a changed or new snapshot is stored; the file is sorted and keeps the others", () => {
  const snapshots = new Snapshots({ z: { b: 1, a: 2 }, same: 1 }, true);
  expect(snapshots.compare("same", 1, unlike)).toEqual({ problems: [], isUpdated: false });
  expect(snapshots.changedText()).toBeUndefined();
  expect(snapshots.compare("same", 2, unlike)).toEqual({ problems: [], isUpdated: true });
  expect(snapshots.compare("new", [3], unlike)).toEqual({ problems: [], isUpdated: true });
  expect(snapshots.compare("new", [3], unlike)).toEqual({ problems: [], isUpdated: false });
  const sorted = { schemaVersion: 1, snapshots: { new: [3], same: 2, z: { a: 2, b: 1 } } };
  expect(snapshots.changedText()).toBe(`${JSON.stringify(sorted, undefined, 2)}\n`);
});

test("a missing file counts as empty; a file without snapshots, or that cannot be read, is refused", async () => {
  await using folder = await temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const missing = await loadSnapshots(path("no.snap.json"), true);
  expect(missing.compare("a", 1, unlike)).toEqual({ problems: [], isUpdated: true });
  await folder.write("a.snap.json", missing.changedText() ?? "");
  const loaded = await loadSnapshots(path("a.snap.json"), false);
  expect(loaded.compare("a", 1, unlike).problems).toEqual([]);
  expect(loaded.compare("a", 2, unlike).problems).toEqual(["was 1"]);
  for (const text of ["", "[]", "{}", '{"snapshots":[]}']) {
    await folder.write("b.snap.json", text);
    await expectRefusal(loadSnapshots(path("b.snap.json"), false), {
      code: "settings_invalid",
      message: `${path("b.snap.json")} is not a snapshot file: it is not a JSON object with the member "snapshots"`,
      next: "Restore the committed file, or delete it and run: fairlead test FILE --update",
    });
  }
  await expectRefusal(loadSnapshots(folder.path, false), { code: "internal", message: folder.path });
});
