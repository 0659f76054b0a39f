using System.Runtime.CompilerServices;
using Spectre.Console;

namespace Billing.ScenarioTests.NBomberApi;

/// <summary>Allows two progress displays at the same time. When too many failures end a run, NBomber can start its
/// clean-up twice, each time with its own display. Spectre.Console rejects the second display if the first is still
/// active, which depends on timing.</summary>
internal sealed class SharedDisplays : IExclusivityMode
{
    public T Run<T>(Func<T> func) => func();

    public Task<T> RunAsync<T>(Func<Task<T>> func) => func();

    [ModuleInitializer]
    internal static void Use() =>
        AnsiConsole.Console = AnsiConsole.Create(new AnsiConsoleSettings { ExclusivityMode = new SharedDisplays() });
}
