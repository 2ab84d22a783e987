/**
 * One server of a registry: what it is, whether its package belongs to it, the values that it asks for, exactly what will
 * run, and the yes to that.
 */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AddChoices, AddedPublished, FoundPublished, PlannedPublished } from "../../../protocol/adding.ts";
import type { CommandError } from "../../api.ts";
import { toCommandError, useApp, useCommand, useRoute } from "../../app.ts";
import { Age } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Field, Select } from "../../components/field.tsx";
import { Link, OutsideLink } from "../../components/link.tsx";
import { Failure, Loading, NextLine, Notice } from "../../components/notice.tsx";
import { Facts, Section, View } from "../../components/panel.tsx";
import { StateMark } from "../../components/state-mark.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { toAddress } from "../../router.ts";
import { ServerTest } from "../servers/server-test.tsx";
import { InputFields, isMissing, type Typed, valuesOf } from "./input-fields.tsx";
import { StatusMark, Unreached } from "./registry-words.tsx";

export function PublishedServer({ name }: { readonly name: string }): VNode {
  const { query } = useRoute();
  const { version, registry, way } = query;
  const read = useCommand("add/find", {
    name,
    version,
    registry,
    way: way === undefined || !/^\d{1,4}$/.test(way) ? undefined : Number(way),
  });
  // While another version or way is read, the choice of it stays, and with it the focus.
  const latest = useRef<FoundPublished>(undefined);
  if (read.value !== undefined) latest.current = read.value;
  const found = read.value ?? latest.current;
  const [added, setAdded] = useState<AddedPublished>();
  return (
    <View
      title={visibleText(name, false, true)}
      heading={<Text of={name} exact />}
      status={found && <StatusMark status={found.server.status} />}
      tools={<Link to={toAddress(["add"], { search: name.slice(name.indexOf("/") + 1) })}>Search again</Link>}
    >
      {added !== undefined ? (
        <Added added={added} />
      ) : (
        <>
          {read.error !== undefined && <Failure error={read.error} onRetry={read.reload} />}
          {read.isLoading && <Loading what="the registry and the package" />}
          {found !== undefined && read.error === undefined && (
            <>
              <About found={found} />
              <Ways found={found} />
              {found.way !== undefined && found.proof.kind !== "mismatch" && read.value !== undefined && (
                <Adding key={found.offerId} found={found} isNamed={registry !== undefined} onAdded={setAdded} />
              )}
            </>
          )}
        </>
      )}
    </View>
  );
}

function About({ found }: { readonly found: FoundPublished }): VNode {
  const { router } = useApp();
  const { server, repository, website, versions, unreached } = found;
  const { title, description, version, publishedAt, status, statusMessage, registry } = server;
  return (
    <>
      {unreached !== undefined && <Unreached unreached={unreached} />}
      {status === "deprecated" && (
        <Notice kind="warn">
          <div>
            <strong>Deprecated.</strong>{" "}
            <Text of={statusMessage ?? "The publisher gives no reason."} lines most={1000} />
          </div>
        </Notice>
      )}
      <Facts
        rows={[
          title === undefined ? undefined : ["title", <Text key="title" of={title} />],
          ["description", <Text key="description" of={description} lines most={1000} />],
          [
            "version",
            <span key="version" class="add-version">
              <Select
                label="Version"
                value={version}
                options={[...new Set([version, ...versions])].map((each) => ({ value: each, text: each }))}
                onChange={(chosen) => router.setQuery({ version: chosen, way: undefined })}
              />
              {publishedAt !== undefined && (
                <span class="muted">
                  <Age since={publishedAt} suffix=" old" />
                </span>
              )}
            </span>,
          ],
          ["registry", <Text key="registry" of={registry} exact class="mono" />],
          repository === undefined ? undefined : ["repository", <OutsideLink key="repository" url={repository} />],
          website === undefined ? undefined : ["website", <OutsideLink key="website" url={website} />],
          found.proof.kind === "none" ? undefined : ["package", <Proof key="proof" found={found} />],
        ]}
      />
    </>
  );
}

function Proof({ found: { proof } }: { readonly found: FoundPublished }): VNode {
  const looks = {
    proven: { word: "proven", shape: "check", tone: "ok" },
    unproven: { word: "unproven", shape: "question", tone: "warn" },
    mismatch: { word: "mismatch", shape: "cross", tone: "bad" },
    none: { word: "none", shape: "dash", tone: "idle" },
  } as const;
  return (
    <span class="add-proof">
      <StateMark {...looks[proof.kind]} /> <Text of={proof.text} exact />
    </span>
  );
}

const runsWords = {
  program: "a program on this machine",
  container: "a container",
  remote: "remote: nothing runs on this machine",
} as const;

/** All ways to use the server. Those that cannot be used say why. */
function Ways({ found: { ways, way, server } }: { readonly found: FoundPublished }): VNode {
  const { router } = useApp();
  if (ways.length === 0) return <Notice kind="warn">The registry names neither a package nor an address.</Notice>;
  return (
    <fieldset class="add-ways">
      <legend>How it is used</legend>
      {ways.map(({ kind, label, runs, unusable }, at) => (
        <label key={at} class="check-line">
          <input
            type="radio"
            name="way"
            checked={at === way}
            disabled={unusable !== undefined}
            onChange={() => router.setQuery({ way: String(at), version: server.version })}
          />
          <span>
            <Text of={`${kind} ${label}`} exact class="mono" /> <span class="muted">{runsWords[runs]}</span>
            {unusable !== undefined && (
              <span class="muted">
                {": "}
                <Text of={unusable} exact />
              </span>
            )}
          </span>
        </label>
      ))}
      {ways.some(({ kind }) => kind === "mcpb") && (
        <CopyCommand command={`fairlead mcp add ${toShellWord(`${server.name}@${server.version}`)} --kind mcpb`} />
      )}
    </fieldset>
  );
}

interface AddingProps {
  readonly found: FoundPublished;
  /** Whether the address names the registry, because it is not the first one. */
  readonly isNamed: boolean;
  readonly onAdded: (added: AddedPublished) => void;
}

/** The values, what will run, and the yes. What is changed must be shown again. */
function Adding({ found, isNamed, onAdded }: AddingProps): VNode {
  const { api, announcer } = useApp();
  const { inputs, scopes, unboxable } = found;
  const [typed, setTyped] = useState<Typed>({});
  const [others, setOthers] = useState<Omit<AddChoices, "inputs">>({
    name: found.name,
    scope: scopes[0] ?? "user",
    sandbox: "read",
  });
  const [isChecked, setChecked] = useState(false);
  const [plan, setPlan] = useState<PlannedPublished>();
  const [error, setError] = useState<CommandError>();
  // An answer about values that were changed meanwhile is dropped.
  const count = useRef(0);
  const change = (): void => {
    count.current += 1;
    setPlan(undefined);
    setError(undefined);
  };
  const set = (next: Partial<typeof others>): void => {
    setOthers({ ...others, ...next });
    change();
  };
  const choices: AddChoices = { ...others, inputs: valuesOf(inputs, typed) };
  const show = async (): Promise<void> => {
    setChecked(true);
    change();
    const missing = inputs.filter((input) => isMissing(input, typed));
    if (missing.length > 0)
      return announcer.say(`Missing: ${missing.map(({ name }) => visibleText(name, false, true)).join(", ")}`);
    const asked = count.current;
    try {
      const planned = await api.run("add/plan", { ...choices, offerId: found.offerId });
      if (asked !== count.current) return;
      setPlan(planned);
      announcer.say("What will run is shown below");
    } catch (failure) {
      if (asked === count.current) setError(toCommandError(failure));
    }
  };
  const isProgram = found.way !== undefined && found.ways[found.way]?.runs === "program";
  return (
    <>
      <form class="add-form" onSubmit={(event) => event.preventDefault()} aria-label="Values of the server">
        <InputFields
          inputs={inputs}
          typed={typed}
          isChecked={isChecked}
          onChange={(next) => {
            setTyped(next);
            change();
          }}
        />
        <Field label="Name in the settings" isRequired>
          {(ids) => (
            <input
              {...ids}
              class="mono"
              value={others.name}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => set({ name: currentTarget.value })}
            />
          )}
        </Field>
        {scopes.length > 1 && (
          <Field label="For">
            {(ids) => (
              <select
                {...ids}
                class="select"
                value={others.scope}
                onChange={({ currentTarget: { value } }) => set({ scope: value === "user" ? "user" : "project" })}
              >
                <option value="project">this project</option>
                <option value="user">all your folders</option>
              </select>
            )}
          </Field>
        )}
        {isProgram && unboxable !== undefined && (
          <Notice kind="warn">
            <div>
              This program cannot run in a sandbox: <Text of={unboxable.why} exact />
              <NextLine next={unboxable.next} />
            </div>
          </Notice>
        )}
        {isProgram && (
          <Field label="Sandbox">
            {(ids) => (
              <select
                {...ids}
                class="select"
                value={others.sandbox}
                onChange={({ currentTarget: { value } }) =>
                  set({ sandbox: value === "off" || value === "write" ? value : "read" })
                }
              >
                <option value="read">
                  {unboxable === undefined
                    ? "in a sandbox: it reads what you name here"
                    : "in a sandbox: not possible here"}
                </option>
                {unboxable === undefined && inputs.some(({ kind }) => kind === "file") && (
                  <option value="write">in a sandbox: it reads and changes what you name here</option>
                )}
                <option value="off">without a sandbox, with all your rights</option>
              </select>
            )}
          </Field>
        )}
        <div class="tools">
          <Button type="submit" onPress={show}>
            Show what will run
          </Button>
          <CopyCommand command={commandFor(found, choices, isNamed)} />
        </div>
        {error !== undefined && (
          <div role="alert">
            <Failure error={error} />
          </div>
        )}
      </form>
      {plan !== undefined && <Planned key={plan.plan} plan={plan} onAdded={onAdded} />}
    </>
  );
}

/** The command that does the same. It asks for secrets itself. */
function commandFor({ server, ways, way, inputs }: FoundPublished, choices: AddChoices, isNamed: boolean): string {
  const secrets = new Set(inputs.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])));
  const files = inputs.flatMap(({ name, kind }) => (kind === "file" ? (choices.inputs[name] ?? []) : []));
  const usual = server.name.slice(server.name.indexOf("/") + 1);
  const given = Object.entries(choices.inputs).flatMap(([name, values]) =>
    secrets.has(name) ? [] : values.map((value) => `--input ${toShellWord(`${name}=${value}`)}`),
  );
  const { sandbox } = choices;
  const box =
    sandbox === "off" ? "off" : sandbox === "write" && files.length > 0 ? JSON.stringify({ write: files }) : "";
  const runs = way === undefined ? undefined : ways[way];
  return [
    "fairlead mcp add",
    toShellWord(`${server.name}@${server.version}`),
    "-s",
    choices.scope,
    ...(isNamed ? ["--registry", toShellWord(server.registry)] : []),
    ...(runs !== undefined && ways.length > 1 ? ["--kind", toShellWord(runs.kind)] : []),
    ...(choices.name === usual ? [] : ["--name", toShellWord(choices.name)]),
    ...(runs?.runs === "program" && box !== "" ? ["--sandbox", toShellWord(box)] : []),
    ...given,
  ].join(" ");
}

interface PlannedProps {
  readonly plan: PlannedPublished;
  readonly onAdded: (added: AddedPublished) => void;
}

function Planned({ plan: { plan, name, fields, isUnproven, isUnboxed }, onAdded }: PlannedProps): VNode {
  const { api, announcer } = useApp();
  const [confirmed, setConfirmed] = useState<readonly ("unproven" | "unboxed")[]>([]);
  const wanted = [
    ...(isUnproven
      ? [
          {
            id: "unproven",
            text: "Nothing proves that the package belongs to this server. Add it nevertheless.",
          } as const,
        ]
      : []),
    ...(isUnboxed ? [{ id: "unboxed", text: "It runs without a sandbox, with all my rights." } as const] : []),
  ];
  return (
    <Section title="What will run, exactly">
      <Facts
        rows={fields.map(({ label, values }) => [
          label,
          values.map((value) => (
            <div key={value}>
              <Text of={value} exact class="mono" />
            </div>
          )),
        ])}
      />
      {wanted.map(({ id, text }) => (
        <label key={id} class="check-line">
          <input
            type="checkbox"
            checked={confirmed.includes(id)}
            onChange={({ currentTarget }) =>
              setConfirmed(currentTarget.checked ? [...confirmed, id] : confirmed.filter((each) => each !== id))
            }
          />
          {text}
        </label>
      ))}
      <Decision subject={`${plan} ${confirmed.join(" ")}`} label="Add the server">
        {wanted.every(({ id }) => confirmed.includes(id)) ? (
          <AllowButton
            kind="primary"
            onPress={async () => {
              const added = await api.run("add/write", { plan, confirmed });
              announcer.done(`Added ${name}`);
              onAdded(added);
            }}
          >
            Add the server
          </AllowButton>
        ) : (
          <Button disabledBecause="tick what is above first" onPress={() => undefined}>
            Add the server
          </Button>
        )}
      </Decision>
    </Section>
  );
}

function Added({ added: { name, file, scope, undo, notes, mayStart } }: { readonly added: AddedPublished }): VNode {
  const element = useRef<HTMLParagraphElement>(null);
  // The button that was pressed is gone.
  useEffect(() => element.current?.focus(), []);
  return (
    <>
      <p ref={element} tabIndex={-1}>
        Added{" "}
        <Link to={toAddress(["servers", name])}>
          <Text of={name} exact />
        </Link>{" "}
        to <Text of={file} exact class="mono" /> ({scope}).
      </p>
      {notes.length > 0 && (
        <ul class="plain-list">
          {notes.map((note) => (
            <li key={note}>
              <Text of={note} exact lines />
            </li>
          ))}
        </ul>
      )}
      {undo !== undefined && (
        <div class="next-line">
          <span class="muted">undo:</span>
          <CopyCommand command={undo} />
        </div>
      )}
      {mayStart && (
        <Section title="Test">
          <ServerTest name={name} isBegun />
        </Section>
      )}
    </>
  );
}
