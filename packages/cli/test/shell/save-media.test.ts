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

test.each([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/wav", "wav"],
  ["application/pdf", "pdf"],
  ["application/json", "json"],
  ["text/csv; charset=utf-8", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["text/other", "bin"],
])("%s is saved with the extension %s", async (mimeType, extension) => {
  await using folder = await temporaryFolder();
  await saveMedia([{ type: "resource", resource: { uri: "a:b", mimeType, blob: "AAAA" } }], folder.path, "s.t");
  expect(await readdir(folder.path)).toEqual([`s-t-1.${extension}`]);
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
