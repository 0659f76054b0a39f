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

// In this process: the build that was measured is the one that was made, and nothing is built while measuring. Where a machine
// is noisy, a hundred iterations are no steadier than twenty, and the whole takes minutes.
var config = ManualConfig.CreateEmpty()
    .AddJob(Job.Default.WithToolchain(InProcessEmitToolchain.Instance).WithMinIterationCount(10).WithMaxIterationCount(20))
    .AddDiagnoser(MemoryDiagnoser.Default)
    .AddColumnProvider(DefaultColumnProviders.Instance)
    .AddLogger(ConsoleLogger.Default)
    .AddExporter(MarkdownExporter.GitHub, HtmlExporter.Default, JsonExporter.Brief)
    .WithArtifactsPath(Path.Combine("results", "bench"));

// All of them, unless some are asked for: a question on the console would stop a script.
var summaries = BenchmarkSwitcher.FromAssembly(Assembly.GetExecutingAssembly()).Run(args.Length == 0 ? ["--filter", "*"] : args, config).ToList();
var onlyAsks = args.Any(a => a is "--list" or "--help" or "--info" or "--version");
return (onlyAsks || summaries.Count > 0) && summaries.All(s => s.Reports.All(report => report.Success)) ? 0 : 1;
