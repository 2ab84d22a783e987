import { join } from "node:path";
import { hasBubblewrap } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type HostOptions, type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../../src/index.ts";
import { forgetApprovalsNamed, readToolApprovals } from "../../src/policy/approvals.ts";
import { openBoxed } from "./open-box.ts";

const { ProceedOnce, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
const refused = /^failed: EACCES connect EACCES .*the sandbox of this server does not allow/;
/** The proxy has looked the name up. No name exists where the tests run. */
const passed = /^failed: ECONNREFUSED connect ECONNREFUSED \S+ - getaddrinfo/;

const wants = (host: string) => `return (await fetch("https://${host}/")).text()`;

/** Answers questions about hosts, and allows all calls. */
function answering(answer: (host: string) => ToolConfirmationOutcome) {
  const asked: ToolCallConfirmationDetails[] = [];
  const options: HostOptions = {
    confirm: async (details) => {
      asked.push(details);
      return answer(details.toolName);
    },
  };
  return { asked, options };
}

describe.runIf(hasBubblewrap("servers in their sandbox"))("a host that a sandboxed server wants", () => {
  test("is a question with the server and the host, and a yes counts until the server ends", async () => {
    const { asked, options } = answering(() => ProceedOnce);
    await using boxed = await openBoxed({ options });
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked.map(({ kind, serverName, toolName, outcomes }) => [kind, serverName, toolName, outcomes])).toEqual([
      ["host", "s", "api.wanted.invalid:443", [ProceedOnce, ProceedAlwaysAndSave, Cancel]],
    ]);
    await boxed.host.stop(["s"]);
    await boxed.run(wants("api.wanted.invalid"));
    expect(asked).toHaveLength(2);
    const rows = await boxed.hostHistory();
    const row = ["s", "api.wanted.invalid:443", "ok", "asked", "the default for hosts asks about it"];
    expect(rows.map(({ server, tool, outcome, answer, rule }) => [server, tool, outcome, answer, rule])).toEqual([
      row,
      row,
    ]);
  });

  test("always: is saved for exactly this definition of the server", async () => {
    const { asked, options } = answering(() => ProceedAlwaysAndSave);
    await using boxed = await openBoxed({ options });
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    await boxed.host.stop(["s"]);
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked).toHaveLength(1);
    const state = join(boxed.home, ".fairlead");
    expect(await readToolApprovals(state)).toMatchObject([
      { kind: "host", server: "s", tool: "api.wanted.invalid:443" },
    ]);
    await boxed.configure({ env: ["OTHER"] });
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked).toHaveLength(2);
  });

  test("no: is refused, and not asked about again while the program runs", async () => {
    const { asked, options } = answering(() => Cancel);
    await using boxed = await openBoxed({ options });
    for (const _ of [1, 2]) expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(refused);
    expect(asked).toHaveLength(1);
    const rows = await boxed.hostHistory();
    expect(rows.map(({ outcome, refusal }) => [outcome, refusal])).toEqual([["denied", "user"]]);
  });

  test("is no longer reached by a running program after its approval is removed or a rule denies it", async () => {
    const answers = [ProceedAlwaysAndSave, ProceedOnce];
    const { asked, options } = answering(() => answers[asked.length - 1] ?? Cancel);
    await using boxed = await openBoxed({ options });
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked).toHaveLength(1);
    await forgetApprovalsNamed(join(boxed.home, ".fairlead"), "s", "api.wanted.invalid:443");
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked).toHaveLength(2);
    const rule = (decision: string) => `
[[rule]]
mcpName = "s"
toolName = "*.wanted.invalid:443"
kind = "host"
decision = "${decision}"
priority = 100
`;
    await boxed.rules(rule("deny"));
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(refused);
    expect(asked).toHaveLength(2);
  });

  test("is reached by a running program after a no, when a rule allows it", async () => {
    const { asked, options } = answering(() => Cancel);
    await using boxed = await openBoxed({ options });
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(refused);
    await boxed.rules(`
[[rule]]
mcpName = "s"
toolName = "*.wanted.invalid:443"
kind = "host"
decision = "allow"
priority = 100
`);
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(passed);
    expect(asked).toHaveLength(1);
  });

  test("without a way to ask, is refused at once", async () => {
    for (const options of [{}, { interactive: false }]) {
      await using boxed = await openBoxed({ options });
      expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(refused);
    }
  });

  test("is refused without a question by a rule, and allowed by a rule for hosts", async () => {
    const { asked, options } = answering(() => ProceedOnce);
    await using boxed = await openBoxed({ options });
    await boxed.rules(`
[[rule]]
mcpName = "s"
toolName = "*.denied.invalid:443"
kind = "host"
decision = "deny"
priority = 100

[[rule]]
mcpName = "s"
toolName = "*.allowed.invalid:443"
kind = "host"
decision = "allow"
priority = 100
`);
    expect(await boxed.run(wants("a.denied.invalid"))).toMatch(refused);
    expect(await boxed.run(wants("a.allowed.invalid"))).toMatch(passed);
    expect(asked).toEqual([]);
  });

  test("is not allowed by what allows the server's tools: a rule for all of it, trust, yolo mode", async () => {
    const { asked, options } = answering(() => Cancel);
    await using boxed = await openBoxed({
      entry: { trust: true },
      options: { ...options, approvalMode: "yolo", allow: [{ server: "s" }] },
    });
    await boxed.rules(`
[[rule]]
mcpName = "s"
decision = "allow"
priority = 100
`);
    expect(await boxed.run(wants("api.wanted.invalid"))).toMatch(refused);
    expect(asked).toHaveLength(1);
  });

  test("this machine, its networks and names that are none are no question", async () => {
    const { asked, options } = answering(() => ProceedOnce);
    await using boxed = await openBoxed({ options });
    for (const host of ["10.0.0.1", "169.254.169.254", "[fd00:ec2::254]"])
      expect(await boxed.run(wants(host))).toMatch(refused);
    expect(asked).toEqual([]);
  });
});
