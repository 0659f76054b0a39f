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

// The benchmarks run in this process, so that exactly this build is measured and nothing is built during the
// measurement. On a noisy machine, a hundred iterations are no more stable than twenty, which take minutes in total.
var config = ManualConfig.CreateEmpty()
    .AddJob(
        Job.Default.WithToolchain(InProcessEmitToolchain.Instance).WithMinIterationCount(10).WithMaxIterationCount(20))
    .AddDiagnoser(MemoryDiagnoser.Default)
    .AddColumnProvider(DefaultColumnProviders.Instance)
    .AddLogger(ConsoleLogger.Default)
    .AddExporter(MarkdownExporter.GitHub, HtmlExporter.Default, JsonExporter.Brief)
    .WithArtifactsPath(Path.Combine("results", "bench"));

// Without arguments, all benchmarks run: a prompt on the console would block a script.
var summaries = BenchmarkSwitcher.FromAssembly(Assembly.GetExecutingAssembly())
    .Run(args.Length == 0 ? ["--filter", "*"] : args, config).ToList();
var isQuery = args.Any(a => a is "--list" or "--help" or "--info" or "--version");
return (isQuery || summaries.Count > 0) && summaries.All(s => s.Reports.All(report => report.Success)) ? 0 : 1;
