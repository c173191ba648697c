import fc from 'fast-check';

// The same cases for every mutant: one that survives does not by luck. As many of them as half a second allows.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_270_101, interruptAfterTimeLimit: 500 });
