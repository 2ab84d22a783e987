/*
 * Builds the Debian package from the executable: node scripts/package/debian.mjs FOLDER. The folder has what
 * scripts/package/executable.mjs wrote. The package contains Node, because stable distributions have older ones.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const architectures = { x64: "amd64", arm64: "arm64", arm: "armhf" };

/** Runs for one user, and only if that user enables it: the servers that it starts are that user's. */
const userUnit = `[Unit]
Description=Fairlead: your MCP servers for other programs, over HTTP on this machine
Documentation=man:fairlead(1)

[Service]
ExecStart=/usr/bin/fairlead serve --http --port 4100
Restart=on-failure

[Install]
WantedBy=default.target
`;

/** Returns the path of the package. */
export async function packDebian(folder) {
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  const architecture = architectures[process.arch];
  const built = join(folder, `fairlead-${version}-${process.platform}-${process.arch}`);
  const staging = mkdtempSync(join(tmpdir(), "debian-"));
  const put = (path, write, mode = 0o644) => {
    const file = join(staging, path);
    mkdirSync(dirname(file), { recursive: true });
    write(file);
    chmodSync(file, mode);
  };
  const copy = (from) => (file) => copyFileSync(join(built, from), file);
  const text = (content) => (file) => writeFileSync(file, content);
  try {
    put("usr/bin/fairlead", copy("fairlead"), 0o755);
    put("usr/share/bash-completion/completions/fairlead", copy("completions/fairlead"));
    put("usr/share/zsh/vendor-completions/_fairlead", copy("completions/_fairlead"));
    put("usr/share/fish/vendor_completions.d/fairlead.fish", copy("completions/fairlead.fish"));
    put("usr/share/man/man1/fairlead.1.gz", text(zipped(readFileSync(join(built, "fairlead.1")))));
    put("usr/lib/systemd/user/fairlead.service", text(userUnit));
    put("usr/share/doc/fairlead/copyright", text(copyright));
    put("usr/share/doc/fairlead/node.txt.gz", text(zipped(readFileSync(join(built, "LICENSE.node")))));
    put("usr/share/doc/fairlead/changelog.gz", text(zipped(changelog(version))));
    put("usr/share/doc/fairlead/CHANGELOG.md.gz", text(zipped(readFileSync(join(root, "CHANGELOG.md")))));
    put("usr/share/lintian/overrides/fairlead", text(overrides));
    const files = readdirSync(staging, { recursive: true, encoding: "utf8" }).filter((name) =>
      statSync(join(staging, name)).isFile(),
    );
    put("DEBIAN/control", text(control(version, architecture, kibibytes(join(staging, "usr")))));
    put("DEBIAN/md5sums", text(files.map((name) => `${md5(join(staging, name))}  ${name}\n`).join("")));
    for (const name of ["", ...readdirSync(staging, { recursive: true })])
      if (statSync(join(staging, name)).isDirectory()) chmodSync(join(staging, name), 0o755);
    const file = join(folder, `fairlead_${version}_${architecture}.deb`);
    // gzip: every dpkg reads it, and xz takes a minute.
    await run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z6", "--build", staging, file]);
    return file;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const maintainer = "Fairlead <fairlead@users.noreply.github.com>";

/** Node 20 needs these versions of the system's libraries. */
const depends = "libc6 (>= 2.28), libgcc-s1 | libgcc1, libstdc++6 (>= 8)";

function control(version, architecture, size) {
  return `Package: fairlead
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: ${depends}
Recommends: bubblewrap
Suggests: nodejs (>= 20.19)
Section: utils
Priority: optional
Homepage: https://github.com/fairlead/fairlead
Description: MCP servers, configured once and guarded, for every agent
 Fairlead connects models and MCP clients to servers of the Model Context
 Protocol, and checks every call against your rules. The package contains
 Node.js; servers that are npm packages need a Node.js of their own.
`;
}

/** dpkg has the text of the Apache license already, and wants it to be referred to. */
const copyright = `Fairlead: https://github.com/fairlead/fairlead

Copyright 2026 the Fairlead contributors
License: Apache-2.0
 On Debian systems, the file /usr/share/common-licenses/Apache-2.0 has the
 text of the license.

The program contains Node.js. The licenses of Node.js and of the libraries in it
are in /usr/share/doc/fairlead/node.txt.gz.
`;

/** Debian's form. The notes for users are in the other changelog. */
function changelog(version) {
  const date = new Date().toUTCString().replace("GMT", "+0000");
  return `fairlead (${version}) unstable; urgency=medium

  * Version ${version}. What is new: /usr/share/doc/fairlead/CHANGELOG.md.gz

 -- ${maintainer}  ${date}
`;
}

/** What lintian finds in Node.js itself, as its project builds it. */
const overrides = `fairlead: embedded-library *zlib*
fairlead: hardening-no-pie *
`;

function zipped(content) {
  return gzipSync(content, { level: 9 });
}

function md5(file) {
  return createHash("md5").update(readFileSync(file)).digest("hex");
}

function kibibytes(folder) {
  const sizes = readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)).size);
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await packDebian(resolve(process.argv[2] ?? "release"));
