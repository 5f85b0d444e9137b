"""Memory Hub: a persistent, reviewed, team-shared memory of solutions for code-writing agents."""
