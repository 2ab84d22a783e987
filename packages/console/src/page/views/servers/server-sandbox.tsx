/** What a server's program has in its sandbox, and the hosts that it wanted and did not reach. */

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import { useApp, useLatest } from "../../app.ts";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Notice } from "../../components/notice.tsx";
import { Facts, Section } from "../../components/panel.tsx";
import { Text } from "../../components/text.tsx";

interface Props {
  readonly name: string;
  readonly detail: Result<"servers/show">;
  readonly reload: () => void;
}

export function ServerSandbox({ name, detail, reload }: Props): VNode {
  const { api, announcer, store } = useApp();
  const again = useLatest(reload);
  // A call that has ended may have wanted a host.
  useEffect(() => store.onEvent("server", ({ server }) => server.name === name && again()), [name, store]);
  const { sandbox, fingerprint = "" } = detail;
  if (sandbox?.isOn !== true)
    return (
      <Section title="Sandbox">
        <Notice kind="info">
          Not sandboxed: the program runs with your rights. It can read your files and reach every host.
        </Notice>
      </Section>
    );
  return (
    <Section title="Sandbox">
      <Facts
        rows={sandbox.fields.map(({ label, values }) => [
          label,
          values.map((value) => (
            <div key={value}>
              <Text of={value} exact class="mono" />
            </div>
          )),
        ])}
      />
      {sandbox.refused.length > 0 && (
        <>
          <h3 class="server-subhead">Refused since its start</h3>
          <ul class="server-refused">
            {sandbox.refused.map(({ host, reason, mayAllow }) => (
              <li key={host}>
                <p>
                  <Text of={host} exact class="mono" /> <Text of={reason} exact class="muted" />
                </p>
                {mayAllow && (
                  <Decision subject={`${fingerprint} ${host}`} label={`Allow ${host}`}>
                    <AllowButton
                      onPress={async () => {
                        await api.run("servers/allowHost", { server: name, host, fingerprint });
                        announcer.done(`${name} may reach ${host}`);
                        reload();
                      }}
                    >
                      Allow always for this server
                    </AllowButton>
                  </Decision>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
