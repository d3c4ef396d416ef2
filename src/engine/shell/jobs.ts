// Background commands. They belong to their owner: no other caller can see or stop them, and they end with the owner.
import { Fault } from "../fault.ts";
import { Job, type JobOptions, type JobOutput, type JobState, type OutputOptions } from "./job.ts";

export interface JobsOptions {
  /** How many may run at once. Default 16. */
  readonly running?: number;
  /** How many that have ended are remembered. Default 32. */
  readonly ended?: number;
  /** How much of the output of each is kept. Default 1 MiB. */
  readonly outputBytes?: number;
}

export class Jobs implements AsyncDisposable {
  readonly #jobs = new Map<string, Job>();
  readonly #options: Required<JobsOptions>;
  #last = 0;
  #starting = 0;
  #closed = false;

  constructor({ running = 16, ended = 32, outputBytes = 1024 * 1024 }: JobsOptions = {}) {
    this.#options = { running, ended, outputBytes };
  }

  /** Faults: `too_many_jobs`, and those of starting a command. */
  async start(command: string, options: JobOptions): Promise<JobState> {
    const limit = this.#options.running;
    if (this.#starting + this.#running().length >= limit) {
      options.onEnd?.();
      throw new Fault("too_many_jobs", { limit });
    }
    this.#starting++;
    try {
      const id = String(++this.#last);
      const job = await Job.start(id, command, options, this.#options.outputBytes);
      this.#jobs.set(id, job);
      if (this.#closed) await job.stop(0);
      this.#forget();
      return job.state();
    } catch (error) {
      options.onEnd?.();
      throw error;
    } finally {
      this.#starting--;
    }
  }

  /** The output of a job since `offset`. Faults: `unknown_job`. */
  async output(id: string, offset: number, options: OutputOptions): Promise<JobOutput> {
    return await this.#find(id).output(offset, options);
  }

  /** Ends a job with everything that it started, and returns how it ended. Faults: `unknown_job`. */
  async stop(id: string, graceMs = 2000): Promise<JobState> {
    return await this.#find(id).stop(graceMs);
  }

  /** Oldest first. */
  list(): JobState[] {
    return [...this.#jobs.values()].map(job => job.state());
  }

  /** Ends all of them at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running().map(job => job.stop(0)));
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Fault("unknown_job", { job: id });
    return job;
  }

  #running(): Job[] {
    return [...this.#jobs.values()].filter(job => job.state().exit === undefined);
  }

  #forget(): void {
    const ended = [...this.#jobs].filter(([, job]) => job.state().exit !== undefined);
    const surplus = Math.max(0, ended.length - this.#options.ended);
    for (const [id] of ended.slice(0, surplus)) this.#jobs.delete(id);
  }
}
