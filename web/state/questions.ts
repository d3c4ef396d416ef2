// What the policy asks, and the answers.
import type { AnswerRequest, Question, QuestionList, SettledQuestion } from "../../src/review/api.ts";
import { announce } from "./announce.ts";
import { Loaded, messageOf } from "./loadable.ts";
import { get, post } from "./request.ts";

export const questions = new Loaded<readonly Question[]>();

export function loadQuestions(): Promise<void> {
  return questions.load(async signal => (await get<QuestionList>("api/questions", signal)).questions, {
    keep: true,
  });
}

export function addQuestion(question: Question): void {
  const known = questions.value ?? [];
  if (known.some(({ id }) => id === question.id)) return;
  questions.value = [...known, question];
  announce(`${question.agent.client} asks for approval: ${question.tool}`);
}

const outcomes = {
  allowed: "Allowed",
  denied: "Denied",
  expired: "Expired: the call was denied",
  gone: "The call has ended",
};

export function settleQuestion({ id, outcome, rule }: SettledQuestion): void {
  const known = questions.value ?? [];
  if (!known.some(question => question.id === id)) return;
  questions.value = known.filter(question => question.id !== id);
  announce(rule === undefined ? outcomes[outcome] : `Allowed; the rule is in ${rule.file}`);
}

export async function answer(question: Question, request: AnswerRequest): Promise<void> {
  try {
    settleQuestion(await post<SettledQuestion>(`api/questions/${encodeURIComponent(question.id)}`, request));
  } catch (error) {
    announce(messageOf(error), "bad");
    void loadQuestions();
  }
}
