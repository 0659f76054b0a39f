using System.Reflection;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Exporters.Json;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;

// In this process: the build that was measured is the one that was made, and nothing is built while measuring.
var config = ManualConfig.CreateEmpty()
    .AddJob(Job.Default.WithToolchain(InProcessEmitToolchain.Instance))
    .AddDiagnoser(MemoryDiagnoser.Default)
    .AddColumnProvider(DefaultColumnProviders.Instance)
    .AddLogger(ConsoleLogger.Default)
    .AddExporter(MarkdownExporter.GitHub, HtmlExporter.Default, JsonExporter.Brief)
    .WithArtifactsPath(Path.Combine("results", "bench"));

// All of them, unless some are asked for: a question on the console would stop a script.
return BenchmarkSwitcher.FromAssembly(Assembly.GetExecutingAssembly()).Run(args.Length == 0 ? ["--filter", "*"] : args, config).Any() ? 0 : 1;
