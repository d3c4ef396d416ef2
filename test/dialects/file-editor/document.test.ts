// The contract's document, from its first example to its last, on files that fit: each gives the documented text,
// with the sizes and paths of these files.
import { join } from "node:path";
import { expect, it } from "vitest";
import { Fixture, lines } from "./fixture.ts";

it("every example of the document gives what the document says", async () => {
  await using fixture = await Fixture.open({}, { workspace: false });
  const enter = async (name: string, files: Record<string, string>) => {
    fixture.put(Object.fromEntries(Object.entries(files).map(([path, text]) => [`${name}/${path}`, text])));
    const path = join(fixture.path, name);
    expect(await fixture.says("set_workspace", { path })).toBe(`Successfully set workspace root to: ${path}`);
  };

  // 1. read_files
  await enter("reading", {
    "src/main/java/com/example/lsmtree/MemTable.java": "package com.example.lsmtree;\n...",
    "package.json": `{\n${'  "x": 1,\n'.repeat(23)}}`,
    "README.md": `# FileEditor MCP\n${"text\n".repeat(13)}`,
    "config.properties": `# Configuration file\nserver.port=8080\ndb.url=localhost:3306\n${"x=1\n".repeat(20)}`,
  });
  expect(await fixture.says("read_files", { path: "src/main/java/com/example/lsmtree/MemTable.java" })).toBe(
    "1 | package com.example.lsmtree;\n2 | ...",
  );
  const several = await fixture.says("read_files", { path: ["package.json", "README.md"] });
  expect(several).toMatch(
    /^Successfully read 2 file\(s\):\n\n=== package\.json \(25 lines\) ===\n1 \| \{\n2 \| [\s\S]*\n25 \| \}\n\n=== README\.md \(15 lines\) ===\n1 \| # FileEditor MCP\n/,
  );
  expect(await fixture.says("read_files", { path: "config.properties", line_range: "1-10" })).toBe(
    `1 | # Configuration file\n2 | server.port=8080\n3 | db.url=localhost:3306\n${[4, 5, 6, 7, 8, 9, 10].map(n => `${n} | x=1`).join("\n")}`,
  );

  // 2. write_files
  await enter("writing", { "package.json": "old" });
  const config = "export const config = {\n  host: 'localhost',\n  port: 3306\n};";
  expect(
    await fixture.says("write_files", { path: "config/database.js", content: config, line_count: 4 }),
  ).toBe("File written successfully: config/database.js (4 lines)");
  expect(fixture.bytes("writing/config/database.js")).toBe(config);
  expect(
    await fixture.says("write_files", {
      path: ["config/dev.env", "config/test.env"],
      content: "NODE_ENV=development\nDEBUG=true",
      line_count: 2,
    }),
  ).toBe(
    "Successfully wrote 2 files (4 total lines):\n  - config/dev.env (2 lines)\n  - config/test.env (2 lines)",
  );
  expect(fixture.bytes("writing/config/test.env")).toBe("NODE_ENV=development\nDEBUG=true");
  expect(
    await fixture.says("write_files", {
      path: ["package.json", "README.md", ".gitignore"],
      content: [
        '{\n  "name": "my-project",\n  "version": "1.0.0"\n}',
        "# My Project\n\nA sample project",
        "node_modules/\n*.log\n.env",
      ],
      line_count: [4, 3, 3],
    }),
  ).toBe(
    "Successfully wrote 3 files (10 total lines):\n  - package.json (4 lines)\n  - README.md (3 lines)\n  - .gitignore (3 lines)",
  );

  // 3. apply_diffs
  const block = "const config = {\n  port: 3000,\n  host: 'localhost'\n};".split("\n");
  await enter("diffs", {
    "pom.xml": lines(45, { 25: "        <version>1.2.0</version>" }),
    "config.js": lines(25, {
      5: "\t  console.log('Hello World'); ",
      ...Object.fromEntries(block.map((line, i) => [10 + i, line])),
    }),
    "main.js": lines(30, {
      2: "    console.log('start');",
      15: "    return false;",
      28: "    console.log('end');",
    }),
  });
  expect(
    await fixture.says("apply_diffs", {
      path: "pom.xml",
      search_content: "        <version>1.2.0</version>",
      replace_content: "        <version>1.3.1</version>",
      start_line: 25,
    }),
  ).toBe("Successfully applied diff to pom.xml: replaced 1 line(s) at line 25. File now has 45 lines.");
  expect(
    await fixture.says("apply_diffs", {
      path: "config.js",
      search_content: block.join("\n"),
      replace_content:
        "const config = {\n  port: process.env.PORT || 8080,\n  host: process.env.HOST || '0.0.0.0',\n  ssl: process.env.SSL || false\n};",
      start_line: 10,
    }),
  ).toBe(
    "Successfully applied diff to config.js: replaced 4 line(s) at line 10 (added 1 line(s)). File now has 26 lines.",
  );
  expect(
    await fixture.says("apply_diffs", {
      path: "config.js",
      search_content: "console.log('Hello World');",
      replace_content: "    console.log('Hello Universe');",
      start_line: 5,
      trim: true,
    }),
  ).toBe("Successfully applied diff to config.js: replaced 1 line(s) at line 5. File now has 26 lines.");
  expect(fixture.bytes("diffs/config.js").split("\n")[4]).toBe("    console.log('Hello Universe');");
  expect(
    await fixture.says("apply_diffs", {
      path: "main.js",
      search_content: ["    console.log('start');", "    return false;", "    console.log('end');"],
      replace_content: [
        "    console.log('application started');",
        "    return true;",
        "    console.log('application ended');",
      ],
      start_line: [2, 15, 28],
      atomic: true,
    }),
  ).toBe(
    "Batch diff operation (atomic) completed: 3/3 diffs applied successfully to main.js. File now has 30 lines.\n\nDetailed results:\n\nDiff 1:\n  Status: success\n  Start Line: 2\n  Message: Replaced 1 line(s) at line 2\n\nDiff 2:\n  Status: success\n  Start Line: 15\n  Message: Replaced 1 line(s) at line 15\n\nDiff 3:\n  Status: success\n  Start Line: 28\n  Message: Replaced 1 line(s) at line 28",
  );

  // 4. insert_contents
  await enter("inserting", {
    "src/main/java/com/example/App.java": lines(24),
    "file1.js": lines(14),
    "file2.js": lines(21),
    "file3.js": lines(7),
    "config.js": lines(19),
    "utils.js": lines(34),
    "main.js": lines(44),
  });
  expect(
    await fixture.says("insert_contents", {
      path: "src/main/java/com/example/App.java",
      line: 3,
      content: "import java.util.ArrayList;",
    }),
  ).toBe(
    "Successfully inserted 1 line(s) at position 3 in src/main/java/com/example/App.java. File now has 25 lines.",
  );
  expect(
    await fixture.says("insert_contents", {
      path: ["file1.js", "file2.js", "file3.js"],
      line: 1,
      content: "// Added comment",
    }),
  ).toBe(
    "Successfully processed 3 file(s):\n\n✅ file1.js: Successfully inserted 1 line(s) at position 1 in file1.js. File now has 15 lines.\n✅ file2.js: Successfully inserted 1 line(s) at position 1 in file2.js. File now has 22 lines.\n✅ file3.js: Successfully inserted 1 line(s) at position 1 in file3.js. File now has 8 lines.",
  );
  expect(
    await fixture.says("insert_contents", {
      path: ["config.js", "utils.js", "main.js"],
      line: [1, 5, 0],
      content: ["// Config file", "// Utility functions", "// Main entry point"],
    }),
  ).toBe(
    "Successfully processed 3 file(s):\n\n✅ config.js: Successfully inserted 1 line(s) at position 1 in config.js. File now has 20 lines.\n✅ utils.js: Successfully inserted 1 line(s) at position 5 in utils.js. File now has 35 lines.\n✅ main.js: Successfully inserted 1 line(s) at position end of file in main.js. File now has 45 lines.",
  );
  expect(fixture.bytes("inserting/main.js")).toBe(`${lines(44)}\n// Main entry point`);

  // 5. search_and_replace
  const properties = "src/main/resources/application.properties";
  await enter("replacing", {
    [properties]: "app.name=a\nx=<app.name> <app.name>\napp-name=b\n",
    "config.js": ["fs", "path", "http", "url", "os"].map(m => `const ${m} = require('${m}');\n`).join(""),
    "package.json": lines(20, { 3: '  "version": "1.0.0",', 15: '    "x": "1.0.0"' }),
    "README.md": "Hello, hello,\nHELLO\n",
  });
  expect(
    await fixture.says("search_and_replace", {
      path: properties,
      search: "app.name",
      replace: "spring.application.name",
      use_regex: false,
    }),
  ).toBe(`Successfully replaced 3 occurrence(s) in ${properties}`);
  expect(
    await fixture.says("search_and_replace", {
      path: "config.js",
      search: "const\\s+(\\w+)\\s*=\\s*require\\(['\"]([^'\"]+)['\"]\\)",
      replace: "import $1 from '$2'",
      use_regex: true,
    }),
  ).toBe("Successfully replaced 5 occurrence(s) in config.js using regex pattern");
  expect(fixture.bytes("replacing/config.js")).toMatch(/^import fs from 'fs';\nimport path from 'path';\n/);
  expect(
    await fixture.says("search_and_replace", {
      path: "package.json",
      search: "1.0.0",
      replace: "1.1.0",
      start_line: 1,
      end_line: 10,
    }),
  ).toBe("Successfully replaced 1 occurrence(s) in package.json (lines 1-10)");
  expect(
    await fixture.says("search_and_replace", {
      path: "README.md",
      search: "hello",
      replace: "Hi",
      ignore_case: true,
    }),
  ).toBe("Successfully replaced 3 occurrence(s) in README.md (case-insensitive)");
  expect(fixture.bytes("replacing/README.md")).toBe("Hi, Hi,\nHi\n");

  // 6. list_files
  await enter("listing", {
    "src/main/java/A.java": "",
    "src/main/resources": "",
    "src/main/webapp": "",
  });
  expect(await fixture.says("list_files", { path: "src/main", recursive: false })).toBe(
    "directory: java\nfile: resources\nfile: webapp",
  );
  await enter("tree", {
    "src/main/java/App.java": "",
    "src/main/java/Utils.java": "",
    "src/main/resources/config.properties": "",
    "src/test/AppTest.java": "",
  });
  expect(await fixture.says("list_files", { path: "src", recursive: true })).toBe(
    "directory: main\ndirectory: main/java\nfile: main/java/App.java\nfile: main/java/Utils.java\ndirectory: main/resources\nfile: main/resources/config.properties\ndirectory: test\nfile: test/AppTest.java",
  );

  // Return value format
  await enter("errors", { "twenty.txt": lines(20) });
  expect(await fixture.calls("read_files", { path: "nonexistent_file.txt" })).toEqual({
    isError: true,
    said: "Error: File not found: nonexistent_file.txt",
  });
  expect(await fixture.calls("insert_contents", { path: "twenty.txt", line: 50, content: "x" })).toEqual({
    isError: true,
    said: "Error: Line number 50 exceeds file length (20 lines)",
  });
  await using free = await Fixture.open({}, { roots: [], workspace: false });
  expect(await free.calls("set_workspace", { path: "/nonexistent/path" })).toEqual({
    isError: true,
    said: "Error: Directory not found: /nonexistent/path",
  });
});
