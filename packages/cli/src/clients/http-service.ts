/** `connect --http`: whether `fairlead serve --http` runs, and how to start it with every login. Installs nothing. */

import { connect } from "node:net";
import { posix } from "node:path";
import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";

/** Time limit for the connection to the port, in milliseconds. */
const portTimeout = 1_000;

/** Whether a program listens on the port of the loopback address. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: portTimeout });
    const settle = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => settle(true));
    socket.once("timeout", () => settle(false));
    socket.once("error", () => settle(false));
  });
}

/** The program of the service, and where it runs. */
export interface HttpService {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** Says whether the service runs. `isOpen`: whether a program listens on its port. */
export function serviceState(port: number, isOpen: boolean): SafeText {
  return isOpen
    ? safe`a program listens on port ${port}; the entry works if it is fairlead serve --http: fairlead connect --list`
    : safe`fairlead serve --http does not run on port ${port}; to start it now: fairlead serve --http --port ${port}`;
}

/** A file that starts the service with every login, and the command that starts it for the first time. */
interface ServiceUnit {
  readonly file: string;
  readonly text: string;
  readonly start: string;
}

/** Says how to install the unit, with its text. */
export function unitText({ file, text, start }: ServiceUnit): SafeText {
  return joinSafe([
    safe`to start it with every login, save this as ${toSafeLine(file)}, then run: ${toSafeLine(start)}`,
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => safe`  ${toVisibleLine(line)}`),
  ]);
}

/** The user unit of systemd or launchd that runs the service. Undefined on other platforms. */
export function serviceUnit(service: HttpService): ServiceUnit | undefined {
  const { home, platform } = service;
  if (platform === "linux") {
    const file = posix.join(home, ".config/systemd/user/fairlead.service");
    return { file, text: systemdUnit(service), start: "systemctl --user enable --now fairlead" };
  }
  if (platform === "darwin") {
    const file = posix.join(home, "Library/LaunchAgents/fairlead.plist");
    return { file, text: launchdUnit(service), start: `launchctl bootstrap gui/$(id -u) ${toShellWord(file)}` };
  }
  return undefined;
}

function systemdUnit({ command, args, env }: HttpService): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${systemdText(`${name}=${value}`)}\n`);
  // Only in commands, systemd replaces `$`.
  const words = [command, ...args].map((word) => systemdText(word).replaceAll("$", "$$$$"));
  return `[Unit]
Description=Fairlead, the gateway to your MCP servers

[Service]
ExecStart=${words.join(" ")}
${variables.join("")}Restart=on-failure

[Install]
WantedBy=default.target
`;
}

/** systemd replaces `%` in every value. */
function systemdText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%")}"`;
}

function launchdUnit({ command, args, env }: HttpService): string {
  const words = [command, ...args].map((word) => `    <string>${xmlText(word)}</string>\n`);
  const variables = Object.entries(env).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>\n    <string>${xmlText(value)}</string>\n`,
  );
  const environment =
    variables.length === 0 ? "" : `  <key>EnvironmentVariables</key>\n  <dict>\n${variables.join("")}  </dict>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>fairlead</string>
  <key>ProgramArguments</key>
  <array>
${words.join("")}  </array>
${environment}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
</dict>
</plist>
`;
}

function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
