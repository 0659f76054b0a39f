using Billing.LocalStack.Processes;

namespace Billing.Testing;

/// <summary>Finds and runs a program that a check needs and that not every machine has. It is searched in the folder in
/// BILLING_TOOLS, then on the PATH.</summary>
public static class ExternalTool
{
    /// <summary>Returns the program's path. If it is missing, the test is skipped with a message.</summary>
    public static string Need(string name)
    {
        var found = Find(name);
        Assert.SkipWhen(found is null, $"{name} is neither in the folder of BILLING_TOOLS nor on the PATH");
        return found!;
    }

    /// <summary>Returns the program's path, or null.</summary>
    public static string? Find(string name) =>
        new[] { Environment.GetEnvironmentVariable("BILLING_TOOLS") }
            .Concat((Environment.GetEnvironmentVariable("PATH") ?? "").Split(':'))
            .Where(folder => !string.IsNullOrEmpty(folder))
            .Select(folder => Path.Combine(folder!, name))
            .FirstOrDefault(File.Exists);

    /// <summary>Runs a program until it ends.</summary>
    public static async Task<ToolResult> RunAsync(
        string program, IEnumerable<string> arguments, string? folder = null,
        IReadOnlyDictionary<string, string>? environment = null)
    {
        var tool = new Tool(program)
        {
            Folder = folder ?? Repository.Root,
            Environment = environment ?? new Dictionary<string, string>(),
        };
        var (exitCode, output, errors) = await tool.TryAsync(arguments, TestContext.Current.CancellationToken);
        return new ToolResult(exitCode, output, errors);
    }
}

/// <summary>A program's exit code and output.</summary>
public sealed record ToolResult(int ExitCode, string Output, string Errors)
{
    /// <summary>Fails the test with the program's output if its exit code is not 0.</summary>
    public ToolResult Succeeded()
    {
        Assert.True(ExitCode == 0, $"exit code {ExitCode}\n{Output}\n{Errors}");
        return this;
    }
}
