// Questions that the policy asks: what the agent wants to do, which rule asks, and how long the question is open.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Question, QuestionNeed } from "../../src/review/api.ts";
import { HunkLines } from "../parts/diff.tsx";
import { Check, Question as Mark } from "../parts/icons.tsx";
import { Empty, When } from "../parts/states.tsx";
import { ago, span } from "../parts/words.ts";
import { item } from "../state/items.ts";
import { answer, loadQuestions, questions } from "../state/questions.ts";
import { may } from "../state/session.ts";
import { Counts } from "./change-rows.tsx";

/** The question that a reason is being written for. */
const denying = signal<string | undefined>(undefined);
const reason = signal("");
const clock = signal(Date.now());

export function Questions() {
  useEffect(() => {
    const timer = setInterval(() => {
      clock.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <section class="scroll full" aria-label="Questions" tabIndex={-1}>
      <div class="page">
        <header>
          <h1>Questions</h1>
          <p class="muted">A policy rule asks before a call continues. No answer means no.</p>
        </header>
        <When of={questions.current.value} what="questions" again={() => void loadQuestions()}>
          {all =>
            all.length === 0 ? (
              <Empty icon={<Mark size={36} />} title="No questions">
                <p>When a rule says “ask”, the call waits here for your answer while this page is open.</p>
              </Empty>
            ) : (
              all.map(question => <Card key={question.id} question={question} />)
            )
          }
        </When>
      </div>
    </section>
  );
}

const verbs = { write: "change", delete: "delete", run: "run a command in" } as const;

function Card({ question }: { readonly question: Question }) {
  const { id, agent, tool, needs, time, expires, command, difference } = question;
  const { answer: mayAnswer, writeRules } = may.value;
  const left = Math.max(0, Math.round((expires - clock.value) / 1000));
  const once = () => void answer(question, { answer: "once" });
  const forTask = () => void answer(question, { answer: "task" });
  const deny = () => {
    denying.value = id;
    reason.value = "";
  };
  return (
    <article
      class="card question"
      data-item
      tabIndex={-1}
      aria-label={`${agent.client}: ${tool}`}
      ref={item(mayAnswer ? { allow: once, allowTask: forTask, deny } : {})}
    >
      <header>
        <h2>
          <strong>{agent.client}</strong> wants to {wish(needs)}
        </h2>
        <p class="muted">
          <code>{tool}</code> · asked {ago(time, clock.value)} ·{" "}
          <span class={left < 30 ? "del" : ""}>{left > 0 ? `expires in ${span(left)}` : "expiring"}</span>
        </p>
      </header>
      <ul class="needs">
        {needs.slice(0, 20).map(need => (
          <li key={`${need.action} ${need.path}`}>
            <span class={`effect ${need.action === "delete" ? "removed" : ""}`}>{need.action}</span>{" "}
            <code>{need.name}</code>
            {need.rule !== undefined && (
              <span class="muted">
                {" "}
                rule <code>{need.rule}</code>
              </span>
            )}
          </li>
        ))}
        {needs.length > 20 && <li class="muted">and {needs.length - 20} more</li>}
      </ul>
      {command !== undefined && <pre class="command">{command}</pre>}
      {difference?.files.map(file => (
        <section key={file.path} class="file" aria-label={file.name}>
          <header>
            <h3 class="grow">{file.name}</h3>
            <Counts {...file} />
          </header>
          {file.hunks.map(hunk => (
            <div class="hunk" key={hunk.text}>
              <HunkLines hunk={hunk} />
            </div>
          ))}
          {file.hunks.length === 0 && <p class="about">{file.about ?? "nothing to show"}</p>}
        </section>
      ))}
      {!mayAnswer ? (
        <p class="muted">You can look at questions, but not answer them.</p>
      ) : denying.value === id ? (
        <DenyForm question={question} />
      ) : (
        <div class="buttons">
          <button type="button" class="button primary" onClick={once}>
            <Check size={15} /> Allow once
          </button>
          <button type="button" class="button" onClick={forTask}>
            Allow for this task
          </button>
          {writeRules && (
            <button
              type="button"
              class="button"
              title="From now on: the rule is written into the policy file"
              onClick={() => void answer(question, { answer: "rule" })}
            >
              Always allow: write the rule
            </button>
          )}
          <span class="grow" />
          <button type="button" class="button danger" onClick={deny}>
            Deny…
          </button>
        </div>
      )}
    </article>
  );
}

function DenyForm({ question }: { readonly question: Question }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const close = () => {
    denying.value = undefined;
  };
  return (
    <form
      class="deny"
      onSubmit={event => {
        event.preventDefault();
        const text = reason.value.trim();
        void answer(question, { answer: "deny", ...(text !== "" && { reason: text }) });
        close();
      }}
      onKeyDown={event => {
        event.stopPropagation();
        if (event.key === "Escape") close();
      }}
    >
      <label class="stacked grow">
        Message to the agent (optional)
        <input
          ref={field}
          class="field"
          maxLength={1000}
          placeholder="Leave the lock file alone; change package.json only."
          value={reason.value}
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value;
          }}
        />
      </label>
      <div class="buttons">
        <button type="submit" class="button danger">
          Deny
        </button>
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function wish(needs: readonly QuestionNeed[]): string {
  const [first] = needs;
  if (first === undefined) return "go on";
  const more = needs.length > 1 ? ` and ${needs.length - 1} more` : "";
  return `${verbs[first.action]} ${first.name}${more}`;
}
