import { createHash, createPrivateKey, createSign, generateKeyPairSync } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import {
  bundleFolderIn,
  folderOfBundle,
  putBack,
  readBundle,
  setBundleAside,
  unpackBundle,
} from "../../src/bundles/bundle.ts";
import { type BundleTarget, bundleEntry, checkAnswers, defaultAnswers } from "../../src/bundles/bundle-entry.ts";
import { readManifest } from "../../src/bundles/manifest.ts";
import { isInRange } from "../../src/bundles/version-range.ts";
import { writeZip } from "../../src/bundles/write-zip.ts";
import { makeZip, manifestOf } from "./make-zip.ts";

const whole = makeZip([
  { path: "manifest.json", content: manifestOf(), deflated: true },
  { path: "server/", mode: 0o40755 },
  { path: "server/index.js", content: "console.log(1)", descriptor: true, deflated: true },
  { path: "bin/tool", content: "#!/bin/sh", mode: 0o100755 },
]);

describe("a bundle on disk", () => {
  test("is unpacked read-only below its digest, once, and its entry leads back to its folder", async () => {
    await using state = await temporaryFolder();
    const bundle = readBundle(whole);
    const folder = await unpackBundle(bundle, state.path);
    expect(folder).toBe(join(state.path, "bundles/weather", `1.2.0-${bundle.sha256.slice(0, 16)}`));
    expect(folderOfBundle(bundle, state.path)).toBe(folder);
    expect(await readFile(join(folder, "server/index.js"), "utf8")).toBe("console.log(1)");
    const modes = await Promise.all(
      ["server", "server/index.js", "bin/tool"].map(async (path) =>
        ((await stat(join(folder, path))).mode & 0o777).toString(8),
      ),
    );
    expect(modes).toEqual(["500", "400", "500"]);
    expect(await unpackBundle(bundle, state.path)).toBe(folder);
    expect(bundleFolderIn({ command: "node", args: [`${folder}/server/index.js`] }, state.path)).toBe(folder);
    for (const path of ["/bundles/weather", "/bundles/../x/y", "/bundles/.removed/x"])
      expect(bundleFolderIn({ command: "node", args: [`${state.path}${path}`] }, state.path)).toBeUndefined();

    await setBundleAside(folder, state.path);
    expect(await readdir(join(state.path, "bundles"))).toEqual([".removed"]);
    await putBack(folder, state.path);
    expect(await readFile(join(folder, "server/index.js"), "utf8")).toBe("console.log(1)");
    await setBundleAside(folder, state.path);
  });

  test("our own writer's zip is read, and is the same each time", () => {
    const files = [
      { path: "manifest.json", content: Buffer.from(manifestOf()) },
      { path: "run.sh", content: Buffer.from("x"), isExecutable: true },
    ];
    const bundle = readBundle(writeZip(files));
    expect(bundle.files.map(({ path, size, isExecutable }) => ({ path, size, isExecutable }))).toEqual([
      { path: "manifest.json", size: files[0]?.content.length, isExecutable: false },
      { path: "run.sh", size: 1, isExecutable: true },
    ]);
    expect(writeZip(files).equals(writeZip(files))).toBe(true);
  });
});

const target: BundleTarget = {
  folder: "/state/bundles/w$x/1",
  home: "/home/ada",
  platform: "linux",
  node: { file: "/opt/node/bin/node", version: "20.19.0" },
  hasFile: (path) => ["server/index.js", "bin/tool", "config.json"].includes(path),
  secretName: (key) => `weather.${key}`,
};

function entryOf(
  changes: object,
  answers: Readonly<Record<string, readonly string[]>> = {},
  more: Partial<BundleTarget> = {},
) {
  const manifest = readManifest(Buffer.from(manifestOf(changes)));
  return bundleEntry(manifest, new Map(Object.entries(answers)), { ...target, ...more });
}

function server(type: string, mcp_config?: object, entry_point = "server/index.js"): object {
  return { server: { type, entry_point, ...(mcp_config && { mcp_config }) } };
}

describe("the entry of a bundle", () => {
  test("node runs with our own Node if it fits, else with the one in PATH", () => {
    expect(entryOf(server("node")).entry).toEqual({
      command: "/opt/node/bin/node",
      args: ["/state/bundles/w$$x/1/server/index.js"],
    });
    const newer = entryOf({ ...server("node"), compatibility: { runtimes: { node: ">=22" } } });
    expect(newer).toMatchObject({
      entry: { command: "node" },
      notes: ["it needs Node >=22, and Fairlead runs on 20.19.0"],
    });
    expect(entryOf(server("node"), {}, { node: undefined }).entry.command).toBe("node");
  });

  test("python, uv and binary", () => {
    expect(entryOf(server("python", undefined, "main.py")).entry).toEqual({
      command: "python3",
      args: ["/state/bundles/w$$x/1/main.py"],
    });
    expect(entryOf({ manifest_version: "0.4", ...server("uv", undefined, "main.py") }).entry).toEqual({
      command: "uv",
      args: ["run", "--directory", "/state/bundles/w$$x/1", "main.py"],
    });
    expect(
      entryOf(server("binary", { command: "bin/tool", args: ["--config", "config.json"] }, "bin/tool")).entry,
    ).toEqual({
      command: "/state/bundles/w$$x/1/bin/tool",
      args: ["--config", "config.json"],
      cwd: "/state/bundles/w$$x/1",
    });
    for (const command of ["../../bin/sh", "${__dirname}/../x", "bin/other"])
      expect(() => entryOf(server("binary", { command }, "bin/tool"))).toThrow(/its command/);
  });

  test("a dollar sign of the bundle never stands for a variable", () => {
    const { entry } = entryOf(
      server("node", {
        command: "node",
        args: ["$HOME", "${SECRET}", "${command:rm -rf ~}", "a$$b"],
        env: { A: "${secret:X}" },
      }),
    );
    expect(entry).toMatchObject({
      args: ["$$HOME", "$${SECRET}", "$${command:rm -rf ~}", "a$$$$b"],
      env: { A: "$${secret:X}" },
    });
  });

  test("answers: several folders become several arguments, secrets are only named, what has no answer is left out", () => {
    const changes = {
      ...server("node", {
        command: "node",
        args: ["${__dirname}/server/index.js", "${user_config.folders}", "--n=${user_config.n}", "${user_config.none}"],
        env: { KEY: "${user_config.key}", NONE: "${user_config.none}", P: "x${/}y${pathSeparator}${HOME}" },
      }),
      user_config: {
        folders: { type: "directory", title: "Folders", description: "", multiple: true, required: true },
        n: { type: "number", title: "N", description: "" },
        key: { type: "string", title: "Key", description: "", sensitive: true },
        none: { type: "string", title: "None", description: "" },
      },
    };
    const made = entryOf(changes, { folders: ["/a$b", "/c"], n: ["3"], key: ["s3cret"] });
    expect(made.entry).toEqual({
      command: "/opt/node/bin/node",
      args: ["/state/bundles/w$$x/1/server/index.js", "/a$$b", "/c", "--n=3"],
      env: { KEY: "${secret:weather.key}", P: "x/y//home/ada" },
    });
    expect(made.read).toEqual(["/state/bundles/w$x/1", "/a$b", "/c"]);
    expect(made.secrets).toEqual([{ name: "weather.key", value: "s3cret" }]);
  });

  test("platform_overrides replace the command, the arguments and the variables of this system", () => {
    const config = {
      command: "node",
      args: ["a"],
      env: { A: "1" },
      platform_overrides: { linux: { args: ["on-linux"] }, win32: { command: "node.exe" } },
    };
    expect(entryOf(server("node", config)).entry).toMatchObject({ args: ["on-linux"], env: { A: "1" } });
    expect(entryOf(server("node", config), {}, { platform: "win32" }).entry).toMatchObject({
      command: "node.exe",
      args: ["a"],
    });
  });

  test("dxt_version and older manifests are read", () => {
    expect(
      readManifest(Buffer.from(manifestOf({ manifest_version: undefined, dxt_version: "0.1" }))).manifestVersion,
    ).toBe("0.1");
  });
});

test("answers are checked by their type", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "f"), "");
  const input = {
    key: "k",
    title: "K",
    description: "",
    isRequired: true,
    isMultiple: false,
    isSensitive: false,
    defaults: ["${HOME}/x", "${OTHER}"],
    min: 2,
    max: 5,
  };
  const check = (type: "string" | "number" | "boolean" | "directory" | "file", ...values: readonly string[]) =>
    checkAnswers({ ...input, type }, values, folder.path, folder.path).catch((error: Error) => error.message);
  expect(await check("number", "3")).toEqual(["3"]);
  expect(await check("number", "1")).toBe("is less than 2");
  expect(await check("number", "6")).toBe("is more than 5");
  expect(await check("number", "x")).toBe("is not a number");
  expect(await check("boolean", "Yes")).toEqual(["true"]);
  expect(await check("boolean", "maybe")).toBe("is neither true nor false");
  expect(await check("file", "~/f")).toEqual([join(folder.path, "f")]);
  expect(await check("directory", "f")).toMatch(/f is not a folder that exists$/);
  expect(await check("string", "a", "b")).toBe("takes one value");
  expect(defaultAnswers({ ...input, type: "string" }, { home: "/h" })).toEqual(["/h/x", "${OTHER}"]);
});

test.each([
  ["20.19.0", ">=18", true],
  ["20.19.0", ">=18.0.0 <20", false],
  ["20.19.0", "^18 || ^20.10", true],
  ["20.19.0", "20.x", true],
  ["20.19.0", "~20.18.0", false],
  ["20.19.0", "> 20", false],
  ["20.19.0", "*", true],
  ["0.3.1", "^0.2", false],
  ["3.12", ">=3.10,<4.0", true],
  ["20.19.0", "latest", false],
])("%s in %s: %s", (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected);
});

describe("a signature", () => {
  test("is checked against the bytes in front of it", () => {
    const { certificate, key } = selfSigned("Ada Lovelace");
    const signedBundle = sign(whole, certificate, key);
    expect(readBundle(signedBundle).signature).toMatchObject({
      kind: "signed",
      subject: "Ada Lovelace",
      isSelfSigned: true,
      isInForce: true,
    });
    const changed = Buffer.from(signedBundle);
    // A bit of the time of the first file: nothing else notices it.
    changed.writeUInt8(changed.readUInt8(10) ^ 1, 10);
    expect(() => readBundle(changed)).toThrow(/signature is broken: the bundle was changed after it was signed/);
    const other = selfSigned("Ada Lovelace");
    expect(() => readBundle(sign(whole, certificate, other.key))).toThrow(/does not belong to its certificate/);
    expect(readBundle(whole).signature).toEqual({ kind: "unsigned" });
  });
});

// A small writer of DER, enough for a certificate and for PKCS#7.

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const value = Buffer.concat(parts);
  const size =
    value.length < 0x80 ? Buffer.from([value.length]) : Buffer.from([0x82, value.length >> 8, value.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), size, value]);
};
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const nothing = der(0x05);
const rsaSha256 = der(0x30, oid("2a864886f70d01010b"), nothing);
const sha256 = der(0x30, oid("608648016503040201"), nothing);

function selfSigned(name: string): { readonly certificate: Buffer; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const subject = der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from(name)))));
  const time = (text: string): Buffer => der(0x17, Buffer.from(text));
  const body = der(
    0x30,
    der(0xa0, integer(2)),
    integer(77),
    rsaSha256,
    subject,
    der(0x30, time("200101000000Z"), time("491231000000Z")),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const signature = createSign("sha256").update(body).sign(privateKey);
  return { certificate: der(0x30, body, rsaSha256, der(0x03, Buffer.from([0]), signature)), key };
}

function sign(bytes: Buffer, certificate: Buffer, key: string): Buffer {
  const digest = createHash("sha256").update(bytes).digest();
  const attributes = [
    der(0x30, oid("2a864886f70d010903"), der(0x31, oid("2a864886f70d010701"))),
    der(0x30, oid("2a864886f70d010904"), der(0x31, der(0x04, digest))),
  ];
  const signature = createSign("sha256")
    .update(der(0x31, ...attributes))
    .sign(createPrivateKey(key));
  const issuer = der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from("Ada Lovelace")))));
  const signer = der(
    0x30,
    integer(1),
    der(0x30, issuer, integer(77)),
    sha256,
    der(0xa0, ...attributes),
    der(0x30, oid("2a864886f70d010101"), nothing),
    der(0x04, signature),
  );
  const signedData = der(
    0x30,
    integer(1),
    der(0x31, sha256),
    der(0x30, oid("2a864886f70d010701")),
    der(0xa0, certificate),
    der(0x31, signer),
  );
  const block = der(0x30, oid("2a864886f70d010702"), der(0xa0, signedData));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length);
  return Buffer.concat([bytes, Buffer.from("MCPB_SIG_V1"), size, block, Buffer.from("MCPB_SIG_END")]);
}
