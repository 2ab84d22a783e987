/** What opens a browser on which system, and what becomes of it where there is nothing to open one with. */

import { EventEmitter } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type OpenUrlOptions, openUrl, webUrl } from "../../src/net/open-url.ts";
import { manualClock } from "../support/manual-clock.ts";

const url = "https://login.example/authorize?state=1&scope=a+b";

interface Recorder extends Required<Pick<OpenUrlOptions, "spawn">> {
  readonly calls: { readonly command: string; readonly args: readonly string[]; readonly options: object }[];
}

/** Starts nothing; each that would be started ends as told: with a code, or because it is not there. */
function recorder(end: (command: string) => number | "missing" | "thrown" = () => 0): Recorder {
  const calls: Recorder["calls"] = [];
  return {
    calls,
    spawn(command, args, options) {
      calls.push({ command, args, options });
      const how = end(command);
      if (how === "thrown") throw new Error("spawn E2BIG");
      const child = Object.assign(new EventEmitter(), { unref: () => {} });
      setImmediate(() => (how === "missing" ? child.emit("error", new Error("ENOENT")) : child.emit("exit", how)));
      return child;
    },
  };
}

test.each<[NodeJS.Platform, Record<string, string>, readonly string[][]]>([
  ["darwin", {}, [["/usr/bin/open", url]]],
  ["win32", { SYSTEMROOT: "D:\\Win" }, [["D:\\Win\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url]]],
  [
    "win32",
    { SystemRoot: ".\\planted" },
    [["C:\\Windows\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url]],
  ],
  ["linux", { DISPLAY: ":0" }, [["xdg-open", url]]],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, [["xdg-open", url]]],
  ["linux", { BROWSER: "/vscode/browser.sh" }, [["xdg-open", url]]],
  ["linux", { WSL_DISTRO_NAME: "Debian" }, [["wslview", url]]],
  [
    "linux",
    { WSL_INTEROP: "/run/WSL/1", DISPLAY: ":0" },
    [
      ["wslview", url],
      ["xdg-open", url],
    ],
  ],
  ["freebsd", { DISPLAY: ":0" }, [["xdg-open", url]]],
  // Nobody would see what opens.
  ["linux", {}, []],
])("on %s with %j, this is tried: %j", async (platform, env, lines) => {
  for (const end of ["missing", "thrown", 3] as const) {
    const { spawn, calls } = recorder(() => end);
    expect(await openUrl(url, { platform, env, spawn })).toBe(false);
    expect(calls.map(({ command, args }) => [command, ...args])).toEqual(lines);
  }
  const { spawn, calls } = recorder();
  expect(await openUrl(url, { platform, env, spawn })).toBe(lines.length > 0);
  expect(calls.length).toBe(Math.min(lines.length, 1));
});

test("it is started without a shell, by itself, and not from the folder we are in", async () => {
  const { spawn, calls } = recorder();
  const env = { DISPLAY: ":0", PATH: "bin:/usr/bin::.:/bin:node_modules/.bin" };
  await openUrl(url, { platform: "linux", env, spawn });
  expect(calls.map(({ options }) => options)).toEqual([
    {
      cwd: "/",
      env: { DISPLAY: ":0", PATH: "/usr/bin:/bin" },
      detached: true,
      shell: false,
      stdio: "ignore",
      windowsHide: true,
    },
  ]);
});

test("a real program gets the address as its one argument; what it says by its end counts", async () => {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "xdg-open");
  const seen = join(folder.path, "seen");
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${seen}'\nexit "$END"\n`);
  await chmod(program, 0o755);
  const strange = webUrl("https://login.example/a'b?x=$(id)&y=`id`;z|^%zz#\"(!)*")?.href ?? "";
  for (const [end, isOpen] of [
    ["0", true],
    ["4", false],
  ] as const) {
    const env = { DISPLAY: ":0", PATH: `${folder.path}:/usr/bin:/bin`, END: end };
    expect(await openUrl(strange, { platform: "linux", env })).toBe(isOpen);
    expect(await readFile(seen, "utf8")).toBe(`1\n${strange}\n`);
  }
  expect(await openUrl(url, { platform: "linux", env: { DISPLAY: ":0", PATH: "/nowhere" } })).toBe(false);
});

test("a browser that stays open is open", async () => {
  const clock = manualClock();
  let isStarted = false;
  const spawn: OpenUrlOptions["spawn"] = () => {
    isStarted = true;
    return Object.assign(new EventEmitter(), { unref: () => {} });
  };
  const opened = openUrl(url, { platform: "darwin", env: {}, spawn, clock });
  await until(() => isStarted);
  await clock.pass(3000);
  expect(await opened).toBe(true);
});

test.each<[string, string | undefined]>([
  ["https://login.example", "https://login.example/"],
  ["HTTPS://Login.Example:443/A", "https://login.example/A"],
  ["https://bücher.example/ü?ü#ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC"],
  ["https://login.example/?a=$x;'b'", "https://login.example/?a=%24x%3B%27b%27"],
  ["https://login.example/100%", "https://login.example/100%25"],
  ["https://login.example/%41%zz", "https://login.example/%41%25zz"],
  ["http://localhost:8080/cb?code=1", "http://localhost:8080/cb?code=1"],
  ["http://127.0.0.1:1/", "http://127.0.0.1:1/"],
  ["http://[::1]:1/", "http://[::1]:1/"],
  ["http://login.example/", undefined],
  ["https://user@login.example/", undefined],
  ["https://:word@login.example/", undefined],
  ["https://$(id).example/", undefined],
  ["https://a`id`.example/", undefined],
  ["https://-x.example/", undefined],
  ["javascript:alert(1)", undefined],
  ["file:///etc/passwd", undefined],
  ["ms-settings:", undefined],
  ["-https://login.example/", undefined],
  [" https://login.example/", undefined],
  ["https://login.example/\n", undefined],
  ["https://login.example/a\tb", undefined],
  ["https://login.example/\u202ecod.exe", undefined],
  ["https://login.example/\u0000", undefined],
  [`https://login.example/${"x".repeat(20_000)}`, undefined],
  ["", undefined],
])("%j may be opened as %j", (text, href) => {
  expect(webUrl(text)?.href).toBe(href);
});
