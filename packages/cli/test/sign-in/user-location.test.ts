import { expect, test } from "vitest";
import { type UserLocation, userLocation } from "../../src/sign-in/message-lines.ts";

interface Row {
  readonly what: string;
  readonly env: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
  readonly files?: readonly string[];
  readonly place: UserLocation;
}

const screen = { DISPLAY: ":0" };

test.each<Row>([
  { what: "a screen", env: screen, place: "desk" },
  { what: "a screen of the newer kind", env: { WAYLAND_DISPLAY: "wayland-0" }, place: "desk" },
  { what: "a browser of their own", env: { BROWSER: "firefox" }, place: "desk" },
  { what: "Linux in Windows", env: { WSL_DISTRO_NAME: "Debian" }, place: "desk" },
  { what: "macOS", env: {}, platform: "darwin", place: "desk" },
  { what: "Windows", env: {}, platform: "win32", place: "desk" },
  { what: "a connection over SSH", env: { SSH_CONNECTION: "a 1 b 22" }, place: "ssh" },
  { what: "a terminal over SSH, with a screen behind it", env: { ...screen, SSH_TTY: "/dev/pts/1" }, place: "ssh" },
  { what: "macOS over SSH", env: { SSH_TTY: "/dev/ttys1" }, platform: "darwin", place: "ssh" },
  { what: "an editor's container", env: { ...screen, REMOTE_CONTAINERS: "true" }, place: "container" },
  { what: "a codespace", env: { CODESPACES: "true" }, place: "container" },
  { what: "a container", env: {}, files: ["/.dockerenv"], place: "container" },
  { what: "another kind of container", env: {}, files: ["/run/.containerenv"], place: "container" },
  { what: "a container with a screen", env: screen, files: ["/.dockerenv"], place: "desk" },
  { what: "a variable that is empty", env: { SSH_TTY: "", DISPLAY: "" }, place: "no_screen" },
  { what: "no screen", env: {}, place: "no_screen" },
])("with $what: $place", ({ env, platform = "linux", files = [], place }) => {
  expect(userLocation({ env, platform }, (file) => files.includes(file))).toBe(place);
});
