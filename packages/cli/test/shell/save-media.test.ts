import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openSaveFolder, type ResultBlock, saveMedia } from "../../src/shell/save-media.ts";

const blocks: readonly ResultBlock[] = [
  { type: "image", mimeType: "IMAGE/JPEG", data: "AAAA" },
  { type: "text", text: "words" },
  { type: "audio", mimeType: "../../x", data: "AAAA" },
];

test("a file's name is ours: nothing of a server's name or type leads out of the folder", async () => {
  await using folder = await temporaryFolder();
  const { paths, warnings } = await saveMedia(blocks, folder.path, `../s\u0000/.${"t".repeat(300)}`);
  expect(warnings).toEqual([]);
  const names = [`s-${"t".repeat(98)}-1.jpg`, `s-${"t".repeat(98)}-1.bin`];
  expect([...paths.values()]).toEqual(names.map((name) => join(folder.path, name)));
  expect(new Set(await readdir(folder.path))).toEqual(new Set(names));
});

test("what cannot be written is a warning each", async () => {
  await using folder = await temporaryFolder();
  const gone = join(folder.path, "gone");
  const { paths, warnings } = await saveMedia(blocks, gone, "s.t");
  expect(paths.size).toBe(0);
  expect(warnings).toEqual([
    expect.stringContaining(`cannot save the image into ${gone}: `),
    expect.stringContaining(`cannot save the audio into ${gone}: `),
  ]);
});

test("a folder that cannot be made is a mistake in the command, said at once", async () => {
  await expect(openSaveFolder("/proc/fairlead", "/")).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("--save /proc/fairlead: cannot create the folder: "),
  });
});
