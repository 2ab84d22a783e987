import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { bundlesFolder, readBundle, unpackBundle } from "../../src/bundles/bundle.ts";
import { BundleRefusal } from "../../src/bundles/zip.ts";
import { makeZip, manifestOf, type ZipEnd, type ZipPart } from "./make-zip.ts";

const manifest: ZipPart = { path: "manifest.json", content: manifestOf() };
const script: ZipPart = { path: "server/index.js", content: "1" };
const zip = (parts: readonly ZipPart[], end?: ZipEnd): Buffer => makeZip([manifest, ...parts], end);
const zip64Field = Buffer.from([1, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
const zeros = Buffer.alloc(3 * 1024 * 1024);

const malformed: readonly (readonly [what: string, bytes: Buffer, why: RegExp])[] = [
  ["no zip file", Buffer.from("hello"), /not a zip file/],
  ["nothing", Buffer.alloc(0), /not a zip file/],
  ["cut off", zip([script]).subarray(0, -30), /not a zip file/],
  ["data after the end", Buffer.concat([zip([script]), Buffer.from("more")]), /data after its end/],
  ["data in front", zip([script], { before: Buffer.from("#!/bin/sh\n") }), /bytes before "manifest.json"/],
  ["two ends", zip([script], { comment: makeZip([script]) }), /two ends/],
  ["several disks", zip([script], { disk: 1 }), /part of several files/],
  ["more files than its directory", zip([script], { count: 3 }), /directory is damaged/],
  ["fewer files than its directory", zip([script], { count: 1 }), /more bytes than its files need/],
  ["a directory elsewhere", zip([script], { directory: 10 }), /directory is not where/],
  ["zip64 counts", zip([script], { count: 0xffff }), /zip64/],
  ["a zip64 field", zip([{ ...script, extra: zip64Field }]), /has zip64 sizes/],
  ["a second name", zip([{ ...script, extra: Buffer.from([0x75, 0x70, 1, 0, 1]) }]), /a second name/],
  ["a damaged field", zip([{ ...script, extra: Buffer.from([9, 9, 50, 0, 1]) }]), /is damaged/],
  ["traversal", zip([{ path: "../evil.js" }]), /leads out of the bundle/],
  ["traversal inside a path", zip([{ path: "a/../../evil.js" }]), /leads out of the bundle/],
  ["traversal with backslashes", zip([{ path: "..\\evil.js" }]), /a backslash/],
  ["an absolute path", zip([{ path: "/etc/cron.d/evil" }]), /is an absolute path/],
  ["a drive", zip([{ path: "C:evil.js" }]), /a colon/],
  ["a path with a dot", zip([{ path: "./manifest.json" }]), /not a plain path/],
  ["a control character", zip([{ path: "a\u001b[2Jb" }]), /a control character/],
  ["a name that Windows changes", zip([{ path: "manifest.json." }]), /ends with a dot/],
  ["a name that is not UTF-8", zip([{ path: Buffer.from([0x66, 0xff]) }]), /not UTF-8/],
  ["a too long name", zip([{ path: `${"a/".repeat(600)}b` }]), /too long/],
  ["a symbolic link", zip([{ path: "link", content: "/etc/passwd", mode: 0o120777 }]), /is a symbolic link/],
  ["a device", zip([{ path: "tty", mode: 0o020666 }]), /not an ordinary file/],
  ["the same name twice", zip([script, script]), /occurs twice/],
  ["names that differ by case", zip([{ path: "a.js" }, { path: "A.js" }]), /differs from another name only by case/],
  ["names that differ by accents", zip([{ path: "\u00e9" }, { path: "e\u0301" }]), /only by case or accents/],
  ["a file that is a folder", zip([{ path: "a" }, { path: "a/b" }]), /folder that is a file/],
  ["a folder that is a file", zip([{ path: "a/b" }, { path: "a" }]), /occurs twice/],
  ["an encrypted file", zip([{ ...script, flags: 1 }]), /is encrypted/],
  ["an unknown feature", zip([{ ...script, flags: 0x2000 }]), /unknown feature/],
  ["another compression", zip([{ ...script, method: 12 }]), /compressed by method 12/],
  ["a bomb", zip([{ path: "bomb", content: zeros, deflated: true }]), /times larger/],
  ["more than its size", zip([{ ...script, content: "123456789", deflated: true, size: 3 }]), /larger than it says/],
  ["less than its size", zip([{ ...script, content: "123", deflated: true, size: 9 }]), /is damaged/],
  ["another checksum", zip([{ ...script, crc: 7 }]), /is damaged/],
  [
    "bytes behind a compressed file",
    zip([{ ...script, deflated: true, tail: Buffer.from("hidden") }]),
    /bytes after its end/,
  ],
  [
    "another name in front of the content",
    zip([{ ...script, local: { path: "server/other.js" } }]),
    /two different ways/,
  ],
  ["another size in front of the content", zip([{ ...script, local: { size: 2 } }]), /two different ways/],
  ["another method in front of the content", zip([{ ...script, local: { method: 8 } }]), /two different ways/],
  ["a gap", zip([{ ...script, gap: makeZip([]) }]), /bytes after its last file|bytes before/],
  [
    "two files in one place",
    zip([script, { path: "other.js", content: "1", offset: 0 }]),
    /belong to no file or to two/,
  ],
  [
    "too large",
    zip(
      [0, 1, 2, 3, 4, 5].map((n) => ({
        path: `f${n}`,
        size: 100 * 1024 * 1024,
        method: 8,
        content: Buffer.alloc(1024 * 1024),
      })),
    ),
    /more than 512 MB/,
  ],
  ["no manifest", makeZip([script]), /no manifest.json/],
  ["a manifest in a folder", makeZip([{ path: "weather/manifest.json", content: manifestOf() }]), /no manifest.json/],
  ["a manifest that is no JSON", makeZip([{ ...manifest, content: "{" }]), /not a JSON object/],
  [
    "a manifest of another version",
    makeZip([{ ...manifest, content: manifestOf({ manifest_version: "9" }) }]),
    /the version 9/,
  ],
  ["a manifest without a server", makeZip([{ ...manifest, content: manifestOf({ server: undefined }) }]), /"server"/],
  ["a name that is a path", makeZip([{ ...manifest, content: manifestOf({ name: "../x" }) }]), /"name"/],
  ["a version that is a path", makeZip([{ ...manifest, content: manifestOf({ version: "../../x" }) }]), /"version"/],
  [
    "a start file outside",
    makeZip([{ ...manifest, content: manifestOf({ server: { type: "node", entry_point: "../x.js" } }) }]),
    /leads out of the bundle/,
  ],
  [
    "arguments that are no texts",
    makeZip([
      {
        ...manifest,
        content: manifestOf({ server: { type: "node", entry_point: "a", mcp_config: { command: "node", args: [1] } } }),
      },
    ]),
    /wrong value/,
  ],
  ["a signature that is no signature", signed(zip([script]), Buffer.from("not DER")), /signature is broken/],
];

function signed(zipFile: Buffer, der: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(der.length);
  return Buffer.concat([zipFile, Buffer.from("MCPB_SIG_V1"), size, der, Buffer.from("MCPB_SIG_END")]);
}

async function install(bytes: Buffer, state: string, expected?: string): Promise<string> {
  return unpackBundle(readBundle(bytes, expected), state);
}

describe("a malformed bundle is refused with its reason, and nothing is left on disk", () => {
  test.each(malformed)("%s", async (_what, bytes, why) => {
    await using folder = await temporaryFolder();
    const outcome = await install(bytes, folder.path).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(BundleRefusal);
    expect((outcome as Error).message).toMatch(why);
    expect(await readdir(bundlesFolder(folder.path)).catch(() => [])).toEqual([]);
  });

  test("another digest than the published one", async () => {
    await using folder = await temporaryFolder();
    await expect(install(zip([script]), folder.path, "00".repeat(32))).rejects.toThrow(
      /its SHA-256 is [0-9a-f]{64}, not 0+/,
    );
  });
});

test("random changes of a bundle never reach a file outside its folder, and never crash", async () => {
  await using folder = await temporaryFolder();
  const seed = Number(process.env["FAIRLEAD_SEED"] ?? Date.now() % 1_000_000);
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
  const whole = zip([
    { ...script, deflated: true, content: "x".repeat(500) },
    { path: "lib/", mode: 0o40755 },
    { path: "lib/a.js", content: "2", descriptor: true },
  ]);
  const times = process.env["FAIRLEAD_LONG"] === undefined ? 200 : 2000;
  for (let run = 0; run < times; run += 1) {
    const bytes = Buffer.from(whole);
    for (let change = 0; change <= random(3); change += 1) bytes[random(bytes.length)] = random(256);
    const outcome = await install(bytes, join(folder.path, "state")).catch((error: unknown) => error);
    expect(
      typeof outcome === "string" || outcome instanceof BundleRefusal,
      `FAIRLEAD_SEED=${seed} run ${run}: ${String(outcome)}`,
    ).toBe(true);
  }
  expect(await readdir(folder.path)).toEqual(["state"]);
});
