/**
 * What a person should know within ten seconds: what waits for them, what is broken and why, and who is calling what.
 * Everything that needs the person comes first, in the same columns as the servers, so that the eye finds the cause and
 * the button in one place.
 */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CallRow, Question } from "../../../protocol/rows.ts";
import { questionTitle } from "../../announce.ts";
import { useApp, useRoute } from "../../app.ts";
import { Age, Countdown, tookText } from "../../components/age.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { memo } from "../../components/memo.tsx";
import { Empty, Notice } from "../../components/notice.tsx";
import { Section, View } from "../../components/panel.tsx";
import { useCalmOrder } from "../../components/settled.ts";
import { CallMark, groupOf, isNotFine, StateMark } from "../../components/state-mark.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { fewColumns, useMedia } from "../../components/use-media.ts";
import { useLive, useRows } from "../../live.ts";
import { counted } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { useSelection } from "../servers/selection.ts";
import { needColumns, ServerLine, serverColumns } from "../servers/server-line.tsx";
import { byNeed, ListTools, toStateFilter } from "../servers/server-list.tsx";

/** Calls that are shown. */
const mostCalls = 10;
/** Milliseconds between two changes of the list of calls. A list that changes more often cannot be read. */
const callsPause = 500;
/** Stands between the servers that are not fine and the others. */
const divider = "\0others";

export function NowView(): VNode {
  const { store } = useApp();
  const about = useLive(store.about);
  const rows = useRows(store.servers);
  const questions = useRows(store.questions);
  const { query } = useRoute();
  const filter = toStateFilter(query["state"]);
  const selection = useSelection(rows);
  const box = useRef<HTMLDivElement>(null);
  const isShort = useMedia(fewColumns);

  const shown = byNeed(rows).filter((row) => filter === "all" || groupOf(row) === filter);
  const broken = shown.filter(isNotFine).map(({ name }) => name);
  const others = shown.filter((row) => !isNotFine(row)).map(({ name }) => name);
  const order = useCalmOrder([...broken, divider, ...others], box, filter);
  const at = order.indexOf(divider);
  const [first, rest] = [order.slice(0, at), order.slice(at + 1)];
  const changed = rows.filter((row) => row.changed > 0);
  const needs = questions.length + broken.length + changed.length;
  const hasServers = rows.some(({ transport }) => transport !== "built-in");
  // The row of a server has its own problem as its cause.
  const problems = (about?.problems ?? []).filter((problem) => !rows.some(({ cause }) => cause?.includes(problem)));
  const shownNames = shown.map(({ name }) => name);
  return (
    <View
      title="Now"
      heading={
        about === undefined || needs === 0 ? (
          "Now"
        ) : (
          <>
            Needs you<span class="count">{needs}</span>
          </>
        )
      }
      tools={<CopyCommand command="fairlead doctor" />}
    >
      <ListTools rows={rows} shown={shownNames} filter={filter} selection={selection} />
      <div class="now">
        <div class={`now-servers ${selection.names.length > 0 ? "is-selecting" : ""}`} ref={box}>
          {problems.map((problem) => (
            <Notice key={problem} kind="warn">
              <Text of={problem} exact />
            </Notice>
          ))}
          {about !== undefined && !hasServers && questions.length === 0 && <NoServers />}
          {about !== undefined && needs === 0 && hasServers && (
            <p class="now-calm">
              <StateMark word="Nothing needs you" shape="check" tone="ok" />
            </p>
          )}
          {questions.length + changed.length + first.length > 0 && (
            <Table label="What needs you" columns={needColumns} class="server-table need-table">
              {questions.map((question) => (
                <QuestionLine key={`question ${question.id}`} question={question} />
              ))}
              {changed.map(({ name, changed: count }) => (
                <ChangedLine key={`changed ${name}`} name={name} count={count} />
              ))}
              {first.map((name) => (
                <ServerLine
                  key={`server ${name}`}
                  name={name}
                  isSelected={selection.has(name)}
                  onSelect={selection.set}
                  isShort
                />
              ))}
            </Table>
          )}
          {rest.length > 0 && (
            <Table label="Other servers" columns={isShort ? needColumns : serverColumns} class="server-table">
              {rest.map((name) => (
                <ServerLine
                  key={`server ${name}`}
                  name={name}
                  isSelected={selection.has(name)}
                  onSelect={selection.set}
                  isShort={isShort}
                />
              ))}
            </Table>
          )}
          {rows.length > 0 && shownNames.length === 0 && <Empty title="No server is in this state" />}
        </div>
        <LastCalls />
      </div>
    </View>
  );
}

function NoServers(): VNode {
  return (
    <Empty title="No server is configured">
      <ul class="empty-steps">
        <li>
          Add one in a terminal: <CopyCommand command="fairlead mcp add NAME -- COMMAND" />
        </li>
        <li>
          Take over those of another program: <CopyCommand command="fairlead mcp import" />
        </li>
        <li>
          Or try the built-in server <Link to={toAddress(["tools", "demo"])}>demo</Link>: it needs nothing.
        </li>
      </ul>
    </Empty>
  );
}

const QuestionLine = memo(({ question }: { readonly question: Question }): VNode => {
  const { router } = useApp();
  const address = toAddress(["inbox", question.id]);
  return (
    <Row
      rowKey={`question ${question.id}`}
      class="row-question"
      onOpen={() => router.go(address)}
      cells={[
        null,
        <StateMark key="state" word="question" shape="question" tone="warn" />,
        <span key="server" class="row-name cut">
          <Text of={question.server} exact />
        </span>,
        <Age key="since" since={question.since} />,
        <span key="cause" class="cut">
          {question.deadline !== undefined && (
            <span class="now-deadline">
              expires in <Countdown until={question.deadline} />
            </span>
          )}
          {"from" in question && (
            <>
              <Text of={question.from} exact />:{" "}
            </>
          )}
          <bdi class="foreign">{questionTitle(question)}</bdi>{" "}
          {question.kind === "request" && <ArgumentsText args={question.args} />}
        </span>,
        <Link key="next" to={address} class="button button-row" focusKey={`next question ${question.id}`}>
          Look
        </Link>,
      ]}
    />
  );
});

/** The arguments in short. The question's card shows them in full. */
function ArgumentsText({ args }: { readonly args: object }): VNode {
  const text = Object.entries(args)
    .map(([name, value]) => `${name}=${(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 80)}`)
    .join(" ")
    .replaceAll(/\s+/g, " ");
  return (
    <span class="muted">
      <Text of={text} exact />
    </span>
  );
}

function ChangedLine({ name, count }: { readonly name: string; readonly count: number }): VNode {
  const { router } = useApp();
  const address = toAddress(["servers", name, "changes"]);
  return (
    <Row
      rowKey={`changed ${name}`}
      onOpen={() => router.go(address)}
      cells={[
        null,
        <StateMark key="state" word="changed" shape="triangle" tone="change" />,
        <span key="server" class="row-name cut">
          <Text of={name} exact />
        </span>,
        null,
        <span key="cause" class="cut">
          {counted(count, "definition")} changed since you accepted {count === 1 ? "it" : "them"}
        </span>,
        <Link key="next" to={address} class="button button-row" focusKey={`compare ${name}`}>
          Compare
        </Link>,
      ]}
    />
  );
}

const callColumns: readonly Column[] = [
  { id: "state", title: "State", width: "110px", card: "head" },
  { id: "name", title: "Call", card: "wide" },
  { id: "from", title: "From", width: "24%" },
  { id: "took", title: "Took", width: "72px", align: "end" },
  { id: "at", title: "Begun", width: "64px" },
];

function LastCalls(): VNode {
  const { store } = useApp();
  const ids = useLatestCalls();
  const about = useLive(store.about);
  return (
    <Section title="Last calls" class="now-calls" tools={<Link to={toAddress(["history"])}>History</Link>}>
      {about !== undefined && ids.length === 0 && <p class="muted">No call since the host started.</p>}
      {ids.length > 0 && (
        <Table label="Last calls" columns={callColumns}>
          {/* Rows change what they show: to remove and add them costs more, and loses the focus. */}
          {ids.map((id, at) => (
            <CallLine key={at} id={id} />
          ))}
        </Table>
      )}
    </Section>
  );
}

/** The ids of the latest calls: at once after a pause, and while many calls arrive twice a second. */
function useLatestCalls(): readonly string[] {
  const { store } = useApp();
  const { ids } = store.calls;
  const [shown, setShown] = useState(() => ids.value.slice(0, mostCalls));
  useEffect(() => {
    let next = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      timer = undefined;
      next = performance.now() + callsPause;
      setShown(ids.value.slice(0, mostCalls));
    };
    const stop = ids.subscribe(() => {
      timer ??= setTimeout(update, Math.max(0, next - performance.now()));
    });
    update();
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [ids]);
  return shown;
}

const CallLine = memo(({ id }: { readonly id: string }): VNode | null => {
  const { store } = useApp();
  const call = useLive(store.calls.row(id));
  if (call === undefined) return null;
  return (
    <Row
      rowKey={`call ${id}`}
      cells={[
        <CallMark key="state" state={call.state} />,
        <CallName key="name" call={call} />,
        <span key="from" class="cut muted">
          <Text of={call.from} exact />
        </span>,
        call.endedAt === undefined ? <ProgressText key="took" call={call} /> : tookText(call.endedAt - call.startedAt),
        <Age key="at" since={call.startedAt} />,
      ]}
    />
  );
});

function CallName({ call }: { readonly call: CallRow }): VNode {
  const title = call.error === undefined ? undefined : visibleText(call.error.message);
  return (
    <span class="cut" title={title}>
      <Link to={toAddress(["servers", call.server])} class="row-link">
        <Text of={call.server} exact />
      </Link>
      .<Text of={call.name} exact />
      {call.error !== undefined && (
        <span class="muted">
          {" "}
          <Text of={call.error.message} />
        </span>
      )}
      {call.progress?.message !== undefined && call.endedAt === undefined && (
        <span class="muted">
          {" "}
          <Text of={call.progress.message} />
        </span>
      )}
    </span>
  );
}

function ProgressText({ call: { progress } }: { readonly call: CallRow }): VNode | null {
  if (progress === undefined) return null;
  const { progress: done, total } = progress;
  return <span>{total === undefined || total <= 0 ? done : `${Math.floor((100 * done) / total)} %`}</span>;
}
