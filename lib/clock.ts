/** Where code that needs the time gets it from, so that a test can pass another. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
