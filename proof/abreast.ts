// Runs jobs, a few at a time: each is a server and a client, and machines that test have two processors.
export async function abreast(jobs: readonly (() => Promise<void>)[], width = 3): Promise<void> {
  const left = [...jobs];
  const work = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) await job();
  };
  await Promise.all(Array.from({ length: width }, work));
}
