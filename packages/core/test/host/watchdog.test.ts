import { childrenOf, isRunning, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../src/index.ts";

/** A server in a few lines of shell, because three Node processes would take much CPU time. */
const script = `while read -r line; do
  id=\${line#*'"id":'} id=\${id%%[,\\}]*}
  case $line in
    *'"server/discover"'*) end='"error":{"code":-32601,"message":"unknown method"}' ;;
    *'"initialize"'*) end='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) end='"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
    *) continue ;;
  esac
  echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$id,$end}"
done
`;

test("all servers of a host share one watchdog, which ends with the last of them", async () => {
  await using folder = await temporaryFolder();
  const server = { command: "/bin/sh", args: [await folder.write("server.sh", script)] };
  const watchdogs = () => childrenOf(process.pid, "fairlead-watchdog").filter(isRunning);
  await using host = await createHost({
    settings: { mcpServers: { one: server, two: server, three: server } },
    workspace: false,
    environment: { env: {}, home: folder.path, cwd: folder.path, platform: process.platform },
  });
  await host.start({ servers: ["one", "two", "three"] });
  expect(host.states().filter(({ status }) => status === "connected")).toHaveLength(3);
  // A process that has just been started does not have its own command line yet.
  await until(() => watchdogs().length > 0);
  expect(watchdogs()).toHaveLength(1);
  await host.stop(["one", "two"]);
  expect(watchdogs()).toHaveLength(1);
  await host.stop(["three"]);
  await until(() => watchdogs().length === 0);
});
