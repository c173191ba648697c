/**
 * What the emulator of the rehearsal cannot do, by the title of the test that is skipped there, and why.
 * Nothing else is skipped there.
 */
export const emulatorLimits: Readonly<Record<string, string>> = {};
